import type { AccountPrice } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { mostDecimals, Rate, tokensPerRate } from "../figures/amount.tsx";
import { Clip } from "../figures/clip.tsx";
import { FirstRows } from "../figures/first-rows.tsx";
import { Table } from "../figures/table.tsx";
import type { Terms } from "./terms.ts";

interface Props {
  readonly caption: string;
  readonly prices: readonly AccountPrice[];
  readonly terms: Terms;
}

/** What a million tokens of each model cost the account's next payment, and below it what they cost in general. */
export function PriceTable({ caption, prices, terms }: Props) {
  const fixed = new Set(terms.fixed.map(({ model }) => model));
  const input = decimalsOf(prices.flatMap((of) => [of.inputPicoUsdPerToken, of.generalInputPicoUsdPerToken]));
  const output = decimalsOf(prices.flatMap((of) => [of.outputPicoUsdPerToken, of.generalOutputPicoUsdPerToken]));
  return (
    <FirstRows rows={prices}>
      {(shown) => (
        <Table
          caption={caption}
          rows={shown}
          keyOf={({ model }) => model}
          columns={[
            { name: "Model", isHeader: true, show: ({ model }) => <Name model={model} isFixed={fixed.has(model)} /> },
            {
              name: "Input",
              isNumber: true,
              show: (of) => (
                <Prices own={of.inputPicoUsdPerToken} general={of.generalInputPicoUsdPerToken} decimals={input} />
              ),
            },
            {
              name: "Output",
              isNumber: true,
              show: (of) => (
                <Prices own={of.outputPicoUsdPerToken} general={of.generalOutputPicoUsdPerToken} decimals={output} />
              ),
            },
          ]}
        />
      )}
    </FirstRows>
  );
}

function Name({ model, isFixed }: { readonly model: string; readonly isFixed: boolean }) {
  return (
    <div class="two-lines">
      <Clip text={model} isShort />
      {isFixed && <span class="muted small">fixed</span>}
    </div>
  );
}

interface PricesProps {
  readonly own: bigint;
  readonly general: bigint;
  readonly decimals: number;
}

function Prices({ own, general, decimals }: PricesProps) {
  return (
    <>
      <Rate picoPerToken={own} decimals={decimals} />
      {own !== general && (
        <div class="muted small">
          <span class="visually-hidden">general </span>
          <Rate picoPerToken={general} decimals={decimals} />
        </div>
      )}
    </>
  );
}

const decimalsOf = (rates: readonly bigint[]): number => mostDecimals(rates.map((rate) => rate * tokensPerRate));
