import { useMemo } from "preact/hooks";
import { formatUsdValue } from "../../../format/money.ts";
import { Plot } from "../../../parts/figures/plot.tsx";
import type { Series } from "../../../parts/figures/series.ts";
import { type Span, secondsOf, stepsOf } from "../../../parts/usage/span.ts";
import { addUp, type Earned, type ModelMargin } from "./load.ts";

interface Props {
  readonly models: readonly ModelMargin[];
  readonly span: Span;
}

/** The most models of the plot. Further ones are only in the table. */
const mostLines = 5;
const usdPerPico = 1e-12;

/** Revenue beside the cost of the servers, and the margin of each model, by the hour or day. */
export function MarginPlots({ models, span }: Props) {
  const { times, sums, byModel } = useMemo(() => toSeries(models, span), [models, span]);
  const unit = span.step === "hour" ? "an hour" : "a day";
  return (
    <div class="columns section">
      <Plot title={`USD ${unit}`} times={times} series={sums} format={formatUsdValue} shape="step" isNamedOnly />
      {byModel.length > 0 && (
        <Plot
          title={`Margin in USD ${unit}, by model`}
          times={times}
          series={byModel}
          format={formatUsdValue}
          shape="step"
          isNamedOnly
        />
      )}
    </div>
  );
}

function toSeries(models: readonly ModelMargin[], span: Span) {
  const times = stepsOf(span);
  const line = (name: string, pick: (time: number) => bigint | undefined): Series => {
    const values = times.map((time) => {
      const pico = pick(time);
      return pico === undefined ? null : Number(pico) * usdPerPico;
    });
    // The last hour or day has a width, too.
    return { name, values: [...values, values.at(-1) ?? null] };
  };
  const at = (time: number): Earned => addUp(models.flatMap((model) => model.times.get(time) ?? []));
  const priced = models.filter(({ total }) => total.cost !== undefined).slice(0, mostLines);
  return {
    times: [...times, (times.at(-1) ?? 0) + secondsOf(span.step)],
    sums: [
      line("Revenue", (time) => at(time).revenue),
      ...(priced.length === 0 ? [] : [line("Servers", (time) => at(time).cost)]),
    ],
    byModel: priced.map((model) => line(model.model, (time) => marginOf(model.times.get(time)))),
  };
}

/** The revenue less the cost. Undefined: the cost is not known. */
export function marginOf(earned: Earned | undefined): bigint | undefined {
  return earned?.cost === undefined ? undefined : earned.revenue - earned.cost;
}
