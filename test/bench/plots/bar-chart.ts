import { colour, document, legend, legendHeight, line, niceCeiling, round, tell, text } from "./svg.ts";

/** A bar, with the ends of its whisker. */
export interface Bar {
  readonly series: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export interface BarChart {
  readonly title: string;
  /** What the bars measure, with its unit. */
  readonly axis: string;
  readonly groups: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
  /** A line that the bars should stay left of. */
  readonly limit?: { readonly value: number; readonly label: string };
}

/** The room of the labels: at least so much, and as a letter is about so wide. */
const [leastLabelWidth, letterWidth] = [300, 6.6];
const plotWidth = 480;
const barWidth = 12;
const gap = 10;
const rightMargin = 70;
/** Where the legend stands, and the room below it. */
const [legendTop, legendGap] = [30, 18];

/** Horizontal bars, a group for each label. */
export function barChart(chart: BarChart): string {
  const series = [...new Set(chart.groups.flatMap(({ bars }) => bars.map((bar) => bar.series)))];
  const top = niceCeiling(
    Math.max(chart.limit?.value ?? 0, ...chart.groups.flatMap(({ bars }) => bars.map(({ max }) => max || 0))),
  );
  const labelWidth = chart.groups.reduce(
    (width, { label }) => Math.max(width, Math.ceil(label.length * letterWidth) + 16),
    leastLabelWidth,
  );
  const x = (value: number) => labelWidth + (value / top) * plotWidth;
  const legendRoom = plotWidth + rightMargin;
  const topMargin = legendTop + legendHeight(series, legendRoom) + legendGap;
  const parts: string[] = [];
  let y = topMargin;
  for (const { label, bars } of chart.groups) {
    parts.push(text(labelWidth - 8, y + (bars.length * barWidth) / 2 + 4, label, 'text-anchor="end"'));
    for (const bar of bars) {
      parts.push(drawBar(bar, y, x, colour(series.indexOf(bar.series))));
      y += barWidth;
    }
    y += gap;
  }
  const ticks = Array.from({ length: 6 }, (_, at) => (top * at) / 5).map(
    (value) =>
      line(x(value), topMargin - 6, x(value), y, 'stroke="#ddd"') +
      text(x(value), y + 14, tell(value), 'text-anchor="middle"'),
  );
  const limit = chart.limit
    ? line(x(chart.limit.value), topMargin - 6, x(chart.limit.value), y, 'stroke="#bb0000" stroke-dasharray="4 3"') +
      text(x(chart.limit.value), topMargin - 10, chart.limit.label, 'text-anchor="middle" fill="#bb0000"')
    : "";
  return document(labelWidth + plotWidth + rightMargin, y + 40, [
    text(12, 20, chart.title, 'font-size="15" font-weight="bold"'),
    legend(series, labelWidth, legendTop, legendRoom),
    ...ticks,
    ...parts,
    limit,
    text(labelWidth + plotWidth / 2, y + 32, chart.axis, 'text-anchor="middle"'),
  ]);
}

function drawBar(bar: Bar, y: number, x: (value: number) => number, fill: string): string {
  if (!Number.isFinite(bar.value)) {
    return "";
  }
  const middle = y + barWidth / 2;
  return (
    `<rect x="${x(0)}" y="${y + 1}" width="${round(x(bar.value) - x(0))}" height="${barWidth - 2}" fill="${fill}"/>` +
    line(x(bar.min), middle, x(bar.max), middle, 'stroke="#333"') +
    text(x(bar.max) + 4, middle + 4, tell(bar.value), 'font-size="10"')
  );
}
