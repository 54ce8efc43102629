import { formatCount } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Figure, Figures } from "../figures/figure.tsx";
import type { Sum } from "./sums.ts";

/** The sum of the whole period. */
export function Total({ total }: { readonly total: Sum }) {
  return (
    <div class="section">
      <Figures>
        <Figure name="Cost" isWide>
          <Amount pico={total.cost} name="total" />
        </Figure>
        <Figure name="Requests">{formatCount(total.requests)}</Figure>
        <Figure name="Input tokens">{formatCount(total.inputTokens)}</Figure>
        <Figure name="Output tokens">{formatCount(total.outputTokens)}</Figure>
      </Figures>
    </div>
  );
}
