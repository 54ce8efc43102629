import { useMemo } from "preact/hooks";
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

/** What the dearest groups cost, hour by hour or day by day. */
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
  const series = lines.map(({ id, rows }) => {
    const costs = new Map(rows.map((row) => [timeOf(row), Number(costOf(row)) * usdPerPico]));
    return { name: toLabel(id, names), values: times.map((time) => costs.get(time) ?? 0) };
  });
  // The last hour or day has its own width, too.
  const end = (times.at(-1) ?? 0) + (period.step === "hour" ? hourSeconds : daySeconds);
  return {
    times: [...times, end],
    series: series.map(({ name, values }) => ({ name, values: [...values, values.at(-1) ?? 0] })),
  };
}

/** Ids without a name are told apart by their ends. */
function toLabel(id: string, names: Names): string {
  return names.get(id) ?? (/^[0-9a-f]{8}-/.test(id) ? `…${id.slice(-6)}` : id);
}
