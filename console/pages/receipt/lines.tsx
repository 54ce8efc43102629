import type { Receipt, ReceiptLine } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatCount } from "../../format/numbers.ts";
import { Id } from "../../parts/copy.tsx";
import { Amount, mostDecimals, Rate, tokensPerRate } from "../../parts/figures/amount.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Section } from "../../parts/page.tsx";

/** Tokens times rate, lot by lot, and that it adds up. */
export function Lines({ receipt }: { readonly receipt: Receipt }) {
  const { lines, costPicoUsd, accountId } = receipt;
  const decimals = {
    cost: mostDecimals([...lines.map((line) => line.costPicoUsd), costPicoUsd]),
    input: mostDecimals(lines.map((line) => line.inputPicoUsdPerToken * tokensPerRate)),
    output: mostDecimals(lines.map((line) => line.outputPicoUsdPerToken * tokensPerRate)),
  };
  const sum = lines.reduce((all, line) => all + line.costPicoUsd, 0n);
  const inputTokens = lines.reduce((all, line) => all + line.inputTokens, 0n);
  const outputTokens = lines.reduce((all, line) => all + line.outputTokens, 0n);
  return (
    <Section title="Which money paid">
      <Table
        caption="What each lot paid"
        rows={lines}
        keyOf={(line) => line.lotId}
        columns={[
          { name: "Lot", isHeader: true, show: (line) => <LotOf line={line} accountId={accountId} /> },
          { name: "Input tokens", isNumber: true, show: (line) => formatCount(line.inputTokens) },
          {
            name: "× USD per 1M",
            isNumber: true,
            show: (line) => <Rate picoPerToken={line.inputPicoUsdPerToken} decimals={decimals.input} />,
          },
          { name: "+ Output tokens", isNumber: true, show: (line) => formatCount(line.outputTokens) },
          {
            name: "× USD per 1M",
            isNumber: true,
            show: (line) => <Rate picoPerToken={line.outputPicoUsdPerToken} decimals={decimals.output} />,
          },
          {
            name: "= Paid",
            isNumber: true,
            show: (line) => <Amount pico={line.costPicoUsd} name="line" decimals={decimals.cost} />,
          },
        ]}
        foot={[
          "Sum",
          formatCount(inputTokens),
          "",
          formatCount(outputTokens),
          "",
          <Amount key="sum" pico={sum} decimals={decimals.cost} />,
        ]}
      />
      <p class="below-table">
        {sum === costPicoUsd
          ? "The lines add up to the cost, to the pico-dollar."
          : "The lines do not add up to the cost."}
      </p>
      {lines.map((line) => line.sharedTokenPicoUsd > 0n && <SharedToken key={line.lotId} line={line} />)}
      {receipt.shortfallPicoUsd > 0n && (
        <p class="notice warn">
          <span>
            No lot could pay <Amount pico={receipt.shortfallPicoUsd} />: the account owes it.
          </span>
        </p>
      )}
    </Section>
  );
}

function LotOf({ line, accountId }: { readonly line: ReceiptLine; readonly accountId: string }) {
  return line.lotId === "" ? (
    <>Nobody: owed</>
  ) : (
    <a href={`/accounts/${accountId}`}>
      <Id id={line.lotId} />
    </a>
  );
}

function SharedToken({ line }: { readonly line: ReceiptLine }) {
  return (
    <p class="below-table">
      <span>
        One token is shared: lot <Id id={line.lotId} /> ended with <Amount pico={line.sharedTokenPicoUsd} /> of it, and
        the next line pays the rest.
      </span>
    </p>
  );
}
