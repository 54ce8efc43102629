import { useMemo } from "preact/hooks";
import { isId } from "../../format/ids.ts";
import { formatUsdValue } from "../../format/money.ts";
import { Plot } from "../../parts/figures/plot.tsx";
import type { Used } from "./load.ts";
import type { Names } from "./names.ts";
import { costOf, type Period, stepsOf, timeOf } from "./view.ts";

interface Props {
  readonly lines: Used["lines"];
  readonly names: Names;
  readonly period: Period;
  readonly from: Date;
}

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
const usdPerPico = 1e-12;

/** The cost of the highest groups, by the hour or day. */
export function UsagePlot({ lines, names, period, from }: Props) {
  const { times, series } = useMemo(() => toSeries(lines, names, period, from), [lines, names, period, from]);
  return (
    <div class="section">
      <Plot
        title={`Cost in USD ${period.step === "hour" ? "an hour" : "a day"}`}
        times={times}
        series={series}
        format={formatUsdValue}
        isStepped
        isNamedOnly
      />
    </div>
  );
}

function toSeries(lines: Used["lines"], names: Names, period: Period, from: Date) {
  const times = stepsOf(period, from);
  const labels = toLabels(lines, names);
  const series = lines.map(({ rows }, index) => {
    const costs = new Map(rows.map((row) => [timeOf(row), Number(costOf(row)) * usdPerPico]));
    return { name: labels[index] ?? "", values: times.map((time) => costs.get(time) ?? 0) };
  });
  // The last hour or day has a width, too.
  const end = (times.at(-1) ?? 0) + (period.step === "hour" ? hourSeconds : daySeconds);
  return {
    times: [...times, end],
    series: series.map(({ name, values }) => ({ name, values: [...values, values.at(-1) ?? 0] })),
  };
}

/** Labels of the lines. Keys have their accounts; keys of the same name, or without one, the end of their id. */
function toLabels(lines: Used["lines"], names: Names): readonly string[] {
  const labels = lines.map(({ id, accountId }) => {
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
