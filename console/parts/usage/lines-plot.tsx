import { useMemo } from "preact/hooks";
import { isId } from "../../format/ids.ts";
import { formatUsdValue } from "../../format/money.ts";
import { Plot } from "../figures/plot.tsx";
import type { Line } from "./load.ts";
import type { Names } from "./names.ts";
import { type Span, secondsOf, stepsOf } from "./span.ts";

interface Props {
  readonly lines: readonly Line[];
  readonly names: Names;
  readonly span: Span;
}

const usdPerPico = 1e-12;

/** The cost of the highest groups, one upon the other, by the hour or day. */
export function LinesPlot({ lines, names, span }: Props) {
  const { times, series } = useMemo(() => toSeries(lines, names, span), [lines, names, span]);
  return (
    <div class="section">
      <Plot
        title={`Cost in USD ${span.step === "hour" ? "an hour" : "a day"}`}
        times={times}
        series={series}
        format={formatUsdValue}
        shape="stack"
        isNamedOnly
      />
    </div>
  );
}

function toSeries(lines: readonly Line[], names: Names, span: Span) {
  const times = stepsOf(span);
  const labels = toLabels(lines, names);
  const series = lines.map(({ costs }, index) => ({
    name: labels[index] ?? "",
    values: [...times.map((time) => Number(costs.get(time) ?? 0n) * usdPerPico), null],
  }));
  // The last hour or day has a width, too.
  return { times: [...times, (times.at(-1) ?? 0) + secondsOf(span.step)], series };
}

/** Labels of the lines. Keys have their accounts; keys of the same name, or without one, the end of their id. */
function toLabels(lines: readonly Line[], names: Names): readonly string[] {
  const labels = lines.map(({ id, accountId }) => {
    if (id === "") {
      return "All others";
    }
    const own = names.get(id) ?? (isId(id) ? toEnd(id) : id);
    const account = id === accountId ? undefined : names.get(accountId);
    return account === undefined ? own : `${own} · ${account}`;
  });
  return labels.map((label, index) =>
    labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} ${toEnd(lines[index]?.id ?? "")}`,
  );
}

function toEnd(id: string): string {
  return `…${id.slice(-6)}`;
}
