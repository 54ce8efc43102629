import uPlot from "uplot";

/** Formats a plot's value: in full or, with `step`, as a label of an axis with that step. */
export type FormatValue = (value: number, step?: number) => string;

/** The place of the pointer in a plot. */
export interface Pointed {
  /** The point, counted from the first. */
  readonly at: number;
  /** Pixels from the start of the plot's box. */
  readonly left: number;
  readonly isRight: boolean;
}

/** How values are drawn: as a line; as steps, each the sum of a span or a value that lasts; as bars one upon the other. */
export type Shape = "line" | "step" | "stack";

/** How a plot is drawn. */
export interface Style {
  readonly names: readonly string[];
  readonly format: FormatValue;
  readonly isDark: boolean;
  readonly shape: Shape;
  /** Whether values are counts, so that axes have whole labels. */
  readonly isWhole: boolean;
}

export const plotHeight = 168;
/** The least width of an axis of values, so that most plots of a page begin in one line, and what is left beside its labels. */
const leastAxis = 52;
const besideLabels = 8;
const tenth = 0.1;
/** The part of an hour or day that its bar takes, and the most pixels. */
const barPart = 0.8;
const widestBar = 60;
/** The steps of an axis of counts: 1, 2, 5, 10 and so on. */
const wholeSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((power) => [power, 2 * power, 5 * power]);
/** The top of the axis of a plot without values. */
const emptyTop = { whole: 4, other: 1 };

/** All plots of a page have one cursor: it is at the same time in each. */
const pageCursor = "page";

export function toOptions(
  element: Element,
  width: number,
  style: Style,
  onPoint: (pointed: Pointed | undefined) => void,
): uPlot.Options {
  const { names, format, shape, isWhole } = style;
  const colors = readPalette(element, style.isDark);
  const empty = isWhole ? emptyTop.whole : emptyTop.other;
  const axis = {
    stroke: colors.text,
    font: `11px ${colors.font}`,
    grid: { stroke: colors.line, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: plotHeight,
    padding: [8, 30, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: shape !== "stack", size: 7 }, sync: { key: pageCursor, setSeries: false } },
    hooks: { setCursor: [(plot) => onPoint(toPointed(plot, shape))] },
    scales: { y: { range: (_, least, most) => toRange(least, most, empty) } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 80,
        values: (_, times, __, ___, step) => times.map(timeFormat(step).format),
      },
      {
        ...axis,
        size: (plot, labels) => toAxisWidth(plot, axis.font, labels),
        ...(isWhole ? { incrs: wholeSteps } : {}),
        values: (_, values, __, ___, step) => values.map((value) => format(value, step)),
      },
    ],
    series: [{}, ...(shape === "stack" ? toBars(names, colors) : toLines(names, colors, shape))] as uPlot.Series[],
  };
}

/** The width that the labels of an axis need: what an account used may be some millionths of a dollar. */
function toAxisWidth({ ctx }: uPlot, font: string, labels: readonly string[] | null): number {
  ctx.font = font;
  const widths = (labels ?? []).map((label) => ctx.measureText(label).width);
  return Math.ceil(Math.max(leastAxis - besideLabels, ...widths) + besideLabels);
}

function toLines(names: readonly string[], colors: Palette, shape: Shape) {
  return names.map((label, index) => ({
    label,
    stroke: colors.series[index],
    width: 1.75,
    fill: index === 0 ? toFill(colors.series[0] ?? "") : undefined,
    points: { show: false },
    paths: shape === "step" ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.(),
  }));
}

/** The highest bars first, which the lower ones cover. */
function toBars(names: readonly string[], colors: Palette) {
  const bars = names.map((label, index) => ({
    label,
    width: 0,
    fill: colors.series[index],
    points: { show: false },
    paths: uPlot.paths.bars?.({ size: [barPart, widestBar], align: 1 }),
  }));
  return bars.reverse();
}

/** An axis begins at nothing unless a value is below it. */
function toRange(least: number | null, most: number | null, empty: number): [number, number] {
  const top = most !== null && most > 0 ? most * (1 + tenth) : 0;
  const foot = least !== null && least < 0 ? least * (1 + tenth) : 0;
  return top === foot ? [0, empty] : [foot, top];
}

/** The point under the cursor. A step lasts until the next one begins. Undefined: the pointer is elsewhere. */
function toPointed(plot: uPlot, shape: Shape): Pointed | undefined {
  const { idx, left = -1 } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) {
    return undefined;
  }
  const isBefore = shape !== "line" && (plot.data[0][idx] ?? 0) > plot.posToVal(left, "x");
  const at = Math.max(0, isBefore ? idx - 1 : idx);
  const offset = plot.over.offsetLeft;
  return { at, left: offset + left, isRight: left > plot.over.clientWidth / 2 };
}

interface Palette {
  readonly text: string;
  readonly line: string;
  readonly series: readonly string[];
  readonly font: string;
}

/** Palettes by whether they are dark, kept because reading a colour makes a browser lay out the page again. */
const palettes = new Map<boolean, Palette>();
const seriesCount = 5;

/** A canvas needs resolved colours, not custom properties. */
function readPalette(element: Element, isDark: boolean): Palette {
  const known = palettes.get(isDark);
  if (known !== undefined) {
    return known;
  }
  const probe = document.createElement("span");
  element.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    text: read("text-muted"),
    line: read("line"),
    series: Array.from({ length: seriesCount }, (_, index) => read(`series-${index + 1}`)),
    font: getComputedStyle(probe).fontFamily,
  };
  probe.remove();
  palettes.set(isDark, palette);
  return palette;
}

function toFill(rgb: string): string {
  return rgb.replace(/^rgb\((.*)\)$/, "rgba($1, 0.08)");
}

const daySeconds = 86_400;
const minuteSeconds = 60;
const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const timeFormats = {
  day: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" }),
  minute: new Intl.DateTimeFormat(undefined, clock),
  second: new Intl.DateTimeFormat(undefined, { ...clock, second: "2-digit" }),
};

/** The labels of a time axis, as fine as its steps. Times are Unix seconds. */
function timeFormat(stepSeconds: number): { readonly format: (seconds: number) => string } {
  const unit = stepSeconds >= daySeconds ? "day" : stepSeconds < minuteSeconds ? "second" : "minute";
  return { format: (seconds) => timeFormats[unit].format(seconds * 1000) };
}
