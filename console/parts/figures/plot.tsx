import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Table } from "./table.tsx";

/** One line of a plot. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  /** Unix times in seconds, in their order. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** Whether each point is the sum of a span, which a step shows rightly. */
  readonly isStepped?: boolean;
}

const height = 168;

/** The one plot of the console: lines over time, with the same figures as a table for who does not see or wants them exact. */
export function Plot({ title, times, series, format, isStepped = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const names = series.map(({ name }) => name).join("\n");
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const change = () => setDark(scheme.matches);
    scheme.addEventListener("change", change);
    return () => scheme.removeEventListener("change", change);
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null) {
      return undefined;
    }
    const options = toOptions(element, names.split("\n"), format, isStepped);
    const made = new uPlot(options, toData(times, series), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [names, isDark, isStepped]);
  useEffect(() => {
    plot.current?.setData(toData(times, series));
  }, [times, series]);
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <Legend series={series} format={format} />
      </figcaption>
      <div ref={box} class="plot-box" aria-hidden="true" />
      <PlotTable title={title} times={times} series={series} format={format} />
    </figure>
  );
}

function Legend({ series, format }: Pick<Props, "series" | "format">) {
  return (
    <span class="legend">
      {series.map(({ name, values }, index) => {
        const last = values.at(-1);
        return (
          <span key={name} class={`legend-entry series-${index + 1}`}>
            {name}
            <b>{last === undefined || last === null ? "–" : format(last)}</b>
          </span>
        );
      })}
    </span>
  );
}

/** Rows are made when somebody opens them. */
function PlotTable({ title, times, series, format }: Props) {
  const [isOpen, setOpen] = useState(false);
  const columns = [
    { name: "Time", isHeader: true, show: (at: number) => new Date((times[at] ?? 0) * 1000).toLocaleString() },
    ...series.map(({ name, values }) => ({
      name,
      isNumber: true,
      show: (at: number) => {
        const value = values[at];
        return value === undefined || value === null ? "–" : format(value);
      },
    })),
  ];
  return (
    <details class="plot-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <Table
          caption={title}
          columns={columns}
          rows={times.map((_, at) => at).reverse()}
          keyOf={(at) => String(times[at])}
        />
      )}
    </details>
  );
}

function toData(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function toOptions(
  element: Element,
  names: string[],
  format: (value: number) => string,
  isStepped: boolean,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => resolveColor(element, `var(--${name})`);
  const axis = {
    stroke: color("text-muted"),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: { y: { range: (_, __, most) => [0, most === 0 ? 1 : most * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 80,
        values: (_, times, __, ___, step) => toTimes(times, step),
      },
      { ...axis, size: 52, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...names.map((label, index) => ({
        label,
        stroke: color(`series-${index + 1}`),
        width: 1.75,
        fill: index === 0 ? toFill(color("series-1")) : undefined,
        points: { show: false },
        paths: isStepped ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.(),
      })),
    ] as uPlot.Series[],
  };
}

const daySeconds = 86_400;
const minuteSeconds = 60;

/** Labels of a time axis, as fine as its steps. */
function toTimes(times: readonly number[], stepSeconds: number): string[] {
  const format = new Intl.DateTimeFormat(undefined, toParts(stepSeconds));
  return times.map((time) => format.format(time * 1000));
}

function toParts(stepSeconds: number): Intl.DateTimeFormatOptions {
  if (stepSeconds >= daySeconds) {
    return { month: "short", day: "numeric" };
  }
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return stepSeconds < minuteSeconds ? { ...clock, second: "2-digit" } : clock;
}

/** A canvas takes a colour, not a custom property. */
function resolveColor(element: Element, value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function toFill(rgb: string): string {
  return rgb.replace(/^rgb\((.*)\)$/, "rgba($1, 0.08)");
}
