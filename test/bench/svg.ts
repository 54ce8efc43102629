// A small writer of charts, so that results can be looked at without a plotting program.

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

const COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];
const LABEL_WIDTH = 300;
const PLOT_WIDTH = 480;
const BAR = 12;
const GAP = 10;
const TOP = 64;

/** Horizontal bars, a group for each label. */
export function barChart(chart: BarChart): string {
  const series = [...new Set(chart.groups.flatMap(({ bars }) => bars.map((bar) => bar.series)))];
  const top = niceCeiling(
    Math.max(chart.limit?.value ?? 0, ...chart.groups.flatMap(({ bars }) => bars.map(({ max }) => max || 0))),
  );
  const x = (value: number) => LABEL_WIDTH + (value / top) * PLOT_WIDTH;
  const parts: string[] = [];
  let y = TOP;
  for (const { label, bars } of chart.groups) {
    parts.push(text(LABEL_WIDTH - 8, y + (bars.length * BAR) / 2 + 4, label, 'text-anchor="end"'));
    for (const bar of bars) {
      parts.push(drawBar(bar, y, x, COLOURS[series.indexOf(bar.series) % COLOURS.length] ?? "#000"));
      y += BAR;
    }
    y += GAP;
  }
  const ticks = Array.from({ length: 6 }, (_, at) => (top * at) / 5).map(
    (value) =>
      line(x(value), TOP - 6, x(value), y, 'stroke="#ddd"') +
      text(x(value), y + 14, round(value), 'text-anchor="middle"'),
  );
  const limit = chart.limit
    ? line(x(chart.limit.value), TOP - 6, x(chart.limit.value), y, 'stroke="#bb0000" stroke-dasharray="4 3"') +
      text(x(chart.limit.value), TOP - 10, chart.limit.label, 'text-anchor="middle" fill="#bb0000"')
    : "";
  const legend = series.map(
    (name, at) =>
      `<rect x="${LABEL_WIDTH + at * 130}" y="30" width="10" height="10" fill="${COLOURS[at % COLOURS.length]}"/>` +
      text(LABEL_WIDTH + at * 130 + 15, 39, name),
  );
  return document(y + 40, [
    text(12, 20, chart.title, 'font-size="15" font-weight="bold"'),
    ...legend,
    ...ticks,
    ...parts,
    limit,
    text(LABEL_WIDTH + PLOT_WIDTH / 2, y + 32, chart.axis, 'text-anchor="middle"'),
  ]);
}

function drawBar(bar: Bar, y: number, x: (value: number) => number, colour: string): string {
  if (!Number.isFinite(bar.value)) return "";
  const middle = y + BAR / 2;
  return (
    `<rect x="${x(0)}" y="${y + 1}" width="${round(x(bar.value) - x(0))}" height="${BAR - 2}" fill="${colour}"/>` +
    line(x(bar.min), middle, x(bar.max), middle, 'stroke="#333"') +
    text(x(bar.max) + 4, middle + 4, round(bar.value), 'font-size="10"')
  );
}

function document(height: number, parts: readonly string[]): string {
  const width = LABEL_WIDTH + PLOT_WIDTH + 70;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function text(x: number, y: number, content: string, attributes = ""): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, attributes: string): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" ${attributes}/>`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The next number of the form 1, 2, 2.5 or 5 times a power of ten: its fifths are readable. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10);
}
