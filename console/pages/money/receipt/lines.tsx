import type { Lot } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatCount } from "../../../format/numbers.ts";
import { Amount, mostDecimals, Rate, tokensPerRate } from "../../../parts/figures/amount.tsx";
import { Id } from "../../../parts/figures/copy.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { type Addend, toAddends } from "./addends.ts";
import { toSource } from "./known.ts";

interface Props {
  readonly receipt: Receipt;
  readonly lots: ReadonlyMap<string, Lot>;
}

/** Each lot's tokens times its rates, and that they add up to the cost. */
export function Lines({ receipt, lots }: Props) {
  const { lines, costPicoUsd, accountId } = receipt;
  const addends = lines.flatMap(toAddends);
  const decimals = {
    cost: mostDecimals([...addends.map(({ cost }) => cost), costPicoUsd]),
    rate: mostDecimals(addends.map(({ rate = 0n }) => rate * tokensPerRate)),
  };
  const sum = lines.reduce((all, line) => all + line.costPicoUsd, 0n);
  const tokens = lines.reduce((all, line) => all + line.inputTokens + line.outputTokens, 0n);
  return (
    <Section title="Which credit paid">
      <Table
        caption="What each credit paid, and what that is made of"
        rows={addends}
        keyOf={({ line, kind }) => line.lotId + kind}
        isDimmed={({ kind }) => kind !== "line"}
        columns={[
          { name: "Credit", isHeader: true, show: (row) => <Name row={row} lots={lots} accountId={accountId} /> },
          {
            name: "Tokens",
            isNumber: true,
            show: ({ tokens: count }) => count !== undefined && formatCount(count),
          },
          {
            name: "× USD per 1M",
            isNumber: true,
            show: ({ rate }) => rate !== undefined && <Rate picoPerToken={rate} decimals={decimals.rate} />,
          },
          {
            name: "= Paid",
            isNumber: true,
            show: ({ kind, cost }) => (
              <Amount pico={cost} {...(kind === "line" ? { name: "line" } : {})} decimals={decimals.cost} />
            ),
          },
        ]}
        foot={["Cost", formatCount(tokens), "", <Amount key="sum" pico={sum} decimals={decimals.cost} />]}
      />
      <p class="below-table">
        {sum === costPicoUsd
          ? "The lines add up to the cost, to the pico-dollar."
          : "The lines do not add up to the cost."}
      </p>
      {receipt.shortfallPicoUsd > 0n && (
        <p class="notice warn">
          <span>
            No credit could pay <Amount pico={receipt.shortfallPicoUsd} />: the account owes it.
          </span>
        </p>
      )}
    </Section>
  );
}

interface NameProps {
  readonly row: Addend;
  readonly lots: ReadonlyMap<string, Lot>;
  readonly accountId: string;
}

function Name({ row: { kind, line }, lots, accountId }: NameProps) {
  switch (kind) {
    case "input":
      return <span class="addend">input</span>;
    case "output":
      return <span class="addend">output</span>;
    case "shared":
      return (
        <span class="addend" title="A token that one credit could not pay whole: the next one pays the rest of it.">
          one token, shared
        </span>
      );
    case "line":
      return line.lotId === "" ? (
        <>Nobody: owed</>
      ) : (
        <a href={`/accounts/${accountId}`}>
          {toSource(lots.get(line.lotId))}{" "}
          <span class="optional">
            <Id id={line.lotId} />
          </span>
        </a>
      );
  }
}
