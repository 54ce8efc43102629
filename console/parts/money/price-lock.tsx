import type { TokenPrice } from "#gen/tollgate/payments/v1/payment_options_pb.js";
import { Amount, mostDecimals } from "../figures/amount.tsx";
import { Clip } from "../figures/clip.tsx";
import { Table } from "../figures/table.tsx";

/** What a million tokens of each model cost with money that comes in now. */
export function PriceLock({ prices }: { readonly prices: readonly TokenPrice[] }) {
  if (prices.length === 0) {
    return null;
  }
  const input = mostDecimals(prices.map((price) => price.inputPicoUsdPerMillion));
  const output = mostDecimals(prices.map((price) => price.outputPicoUsdPerMillion));
  return (
    <>
      <p class="small">What a million tokens cost with this money, until it is spent:</p>
      <Table
        caption="Prices that this money keeps, for a million tokens"
        rows={prices}
        keyOf={({ model }) => model}
        columns={[
          { name: "Model", isHeader: true, show: ({ model }) => <Clip text={model} isShort /> },
          {
            name: "Input",
            isNumber: true,
            show: (price) => <Amount pico={price.inputPicoUsdPerMillion} decimals={input} />,
          },
          {
            name: "Output",
            isNumber: true,
            show: (price) => <Amount pico={price.outputPicoUsdPerMillion} decimals={output} />,
          },
        ]}
      />
    </>
  );
}
