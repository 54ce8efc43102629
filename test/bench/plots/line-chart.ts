import { colour, document, legend, legendWidth, line, niceCeiling, round, tell, text } from "./svg.ts";

/** How a figure grows with another one. */
export interface LineChart {
  readonly title: string;
  readonly xAxis: string;
  readonly yAxis: string;
  readonly series: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

const left = 70;
const topMargin = 56;
const plotWidth = 560;
const height = 280;

/** A line for each series through its points. Both axes start at zero: what grows linearly looks so. */
export function lineChart(chart: LineChart): string {
  const points = chart.series.flatMap((series) => series.points);
  const right = niceCeiling(Math.max(...points.map(([x]) => x)));
  const top = niceCeiling(Math.max(...points.map(([, y]) => y)));
  const x = (value: number) => left + (value / right) * plotWidth;
  const y = (value: number) => topMargin + height - (value / top) * height;
  const names = chart.series.map(({ name }) => name);
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (part) =>
      line(left, y(top * part), left + plotWidth, y(top * part), 'stroke="#ddd"') +
      text(left - 6, y(top * part) + 4, tell(top * part), 'text-anchor="end"') +
      text(x(right * part), topMargin + height + 16, tell(right * part), 'text-anchor="middle"'),
  );
  const lines = chart.series.map(({ points }, at) => {
    const path = points.map(([px, py]) => `${round(x(px))},${round(y(py))}`);
    const dots = points.map(([px, py]) => `<circle cx="${round(x(px))}" cy="${round(y(py))}" r="3"/>`);
    return (
      `<polyline points="${path.join(" ")}" fill="none" stroke="${colour(at)}" stroke-width="2"/>` +
      `<g fill="${colour(at)}">${dots.join("")}</g>`
    );
  });
  return document(left + plotWidth + 30, topMargin + height + 48, [
    text(12, 20, chart.title, 'font-size="15" font-weight="bold"'),
    text(12, topMargin - 12, chart.yAxis),
    legend(names, Math.min(left + 200, left + plotWidth - legendWidth(names)), 30),
    ...grid,
    ...lines,
    text(left + plotWidth / 2, topMargin + height + 38, chart.xAxis, 'text-anchor="middle"'),
  ]);
}
