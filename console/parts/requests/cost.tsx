import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { metering } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { formatMs } from "../../format/time.ts";
import { Answer } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Amount } from "../figures/amount.tsx";
import type { Sent } from "./send.ts";

/** The cost of a finished request, to the pico-dollar. */
export function Cost({ sent }: { readonly sent: Sent }) {
  const query = useQuery((signal) => load(sent.requestId, signal), [sent.requestId]);
  return (
    <div class="cost" role="status">
      <Answer query={query}>
        {(receipt) => (
          <p>
            <Amount pico={receipt.costPicoUsd} name="total" /> for {countOf(receipt.inputTokens, "input token")} and{" "}
            {countOf(receipt.outputTokens, "output token")}.{" "}
            <a href={`/receipts/${sent.requestId}`}>Open the receipt</a>
          </p>
        )}
      </Answer>
      <p class="muted small">
        {sent.firstMs !== undefined && `First token after ${formatMs(sent.firstMs)}, `}
        whole answer after {formatMs(sent.totalMs)}
      </p>
    </div>
  );
}

async function load(requestId: string, signal: AbortSignal): Promise<Receipt> {
  const { receipt } = await metering.getReceipt({ requestId }, { signal });
  if (receipt === undefined) {
    throw new Error("There is no receipt of this request.");
  }
  return receipt;
}
