import { useMemo } from "preact/hooks";
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

/** What the dearest groups cost, hour by hour or day by day. */
export function UsagePlot({ lines, names, period, from }: Props) {
  const { times, series } = useMemo(() => toSeries(lines, period, from), [lines, period, from]);
  return (
    <div class="section">
      <Plot
        title={`Cost in USD ${period.step === "hour" ? "an hour" : "a day"}`}
        times={times}
        series={series.map(({ id, values }) => ({ name: toLabel(id, names), values }))}
        format={formatCost}
        isStepped
      />
    </div>
  );
}

function toSeries(lines: Used["lines"], period: Period, from: Date) {
  const times = stepsOf(period, from);
  const series = lines.map(({ id, rows }) => {
    const costs = new Map(rows.map((row) => [timeOf(row), Number(costOf(row)) * usdPerPico]));
    return { id, values: times.map((time) => costs.get(time) ?? 0) };
  });
  // The last hour or day has its own width, too.
  const end = (times.at(-1) ?? 0) + (period.step === "hour" ? hourSeconds : daySeconds);
  return {
    times: [...times, end],
    series: series.map(({ id, values }) => ({ id, values: [...values, values.at(-1) ?? 0] })),
  };
}

/** Ids without a name are told apart by their ends. */
function toLabel(id: string, names: Names): string {
  return names.get(id) ?? (/^[0-9a-f]{8}-/.test(id) ? `…${id.slice(-6)}` : id);
}

/** Three significant digits are enough for an axis; exact sums are in the table. */
function formatCost(usd: number): string {
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(3))}`;
}
