import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatCount } from "../../../format/numbers.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { Figure, Figures } from "../../../parts/figures/figure.tsx";
import { ReceiptStatusBadge, statusWords } from "../../../parts/receipts/receipt-status.tsx";

/** The cost, the tokens, and how the request ended. */
export function Charge({ receipt }: { readonly receipt: Receipt }) {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = receipt;
  return (
    <Figures>
      <Figure name="Cost" isWide>
        <Amount pico={receipt.costPicoUsd} name="total" />
      </Figure>
      <Figure
        name="Input tokens"
        detail={
          cachedInputTokens === undefined ? undefined : `${formatCount(cachedInputTokens)} found in the server's cache`
        }
      >
        {formatCount(inputTokens)}
      </Figure>
      <Figure
        name="Output tokens"
        detail={reasoningTokens === undefined ? undefined : `${formatCount(reasoningTokens)} of them thinking`}
      >
        {formatCount(outputTokens)}
      </Figure>
      <Figure name="Status" detail={statusWords[receipt.status].long}>
        <ReceiptStatusBadge status={receipt.status} />
      </Figure>
    </Figures>
  );
}
