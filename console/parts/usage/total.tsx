import type { ComponentChildren } from "preact";
import { formatCount } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Figure, Figures } from "../figures/figure.tsx";
import type { Sum } from "./sums.ts";

interface Props {
  readonly total: Sum;
  /** What the cost is to whoever reads it. */
  readonly costName?: string;
  /** More about the number of requests. */
  readonly detail?: ComponentChildren;
}

/** The sum of a whole period. */
export function Total({ total, costName = "Cost", detail }: Props) {
  return (
    <Figures>
      <Figure name={costName} isWide>
        <Amount pico={total.cost} name="total" />
      </Figure>
      <Figure name="Requests" detail={detail}>
        {formatCount(total.requests)}
      </Figure>
      <Figure name="Input tokens">{formatCount(total.inputTokens)}</Figure>
      <Figure name="Output tokens">{formatCount(total.outputTokens)}</Figure>
    </Figures>
  );
}
