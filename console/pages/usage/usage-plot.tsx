import { useMemo } from "preact/hooks";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { Plot } from "../../parts/figures/plot.tsx";
import type { Names } from "./names.ts";
import { costOf, type GroupName, groupOf, type Period, stepsOf, timeOf } from "./view.ts";

interface Props {
  readonly rows: readonly UsageRow[];
  readonly group: GroupName;
  readonly names: Names;
  readonly period: Period;
  readonly from: Date;
}

/** Lines beyond these are not told apart; they are in the table. */
const mostLines = 4;
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
const usdPerPico = 1e-12;

/** What the dearest groups cost, hour by hour or day by day. */
export function UsagePlot({ rows, group, names, period, from }: Props) {
  const { times, series } = useMemo(() => toSeries(rows, group, period, from), [rows, group, period, from]);
  return (
    <div class="section">
      <Plot
        title={`Cost in USD ${period.step === "hour" ? "an hour" : "a day"}`}
        times={times}
        series={series.map(({ name, values }) => ({ name: toLabel(name, names), values }))}
        format={formatCost}
        isStepped
      />
    </div>
  );
}

function toSeries(rows: readonly UsageRow[], group: GroupName, period: Period, from: Date) {
  const times = stepsOf(period, from);
  const costs = new Map<string, Map<number, number>>();
  const sums = new Map<string, number>();
  for (const row of rows) {
    const name = groupOf(row, group);
    const cost = Number(costOf(row)) * usdPerPico;
    const ofGroup = costs.get(name) ?? new Map<number, number>();
    ofGroup.set(timeOf(row), cost);
    costs.set(name, ofGroup);
    sums.set(name, (sums.get(name) ?? 0) + cost);
  }
  const dearest = [...sums].sort(([, one], [, other]) => other - one).slice(0, mostLines);
  const series = dearest.map(([name]) => ({
    name,
    values: times.map((time) => costs.get(name)?.get(time) ?? 0),
  }));
  // The last hour or day has its own width, too.
  const end = (times.at(-1) ?? 0) + (period.step === "hour" ? hourSeconds : daySeconds);
  return {
    times: [...times, end],
    series: series.map(({ name, values }) => ({ name, values: [...values, values.at(-1) ?? 0] })),
  };
}

/** Ids without a name are told apart by their ends. */
function toLabel(id: string, names: Names): string {
  if (id === "") {
    return "service tokens";
  }
  return names.get(id) ?? (/^[0-9a-f]{8}-/.test(id) ? `…${id.slice(-6)}` : id);
}

/** Three significant digits are enough for an axis; exact sums are in the table. */
function formatCost(usd: number): string {
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(3))}`;
}
