import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Clip } from "./clip.tsx";
import { type FormatValue, type Pointed, plotHeight, type Shape, toOptions } from "./plot-options.ts";
import { PlotTip } from "./plot-tip.tsx";
import type { Series } from "./series.ts";
import { Table } from "./table.tsx";

interface Props {
  readonly title: string;
  /** Unix times in seconds, in ascending order. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: FormatValue;
  /** How the values are drawn. */
  readonly shape?: Shape;
  /** Whether values are counts. */
  readonly isWhole?: boolean;
  /** Whether the legend shows names only: the last value is not informative. */
  readonly isNamedOnly?: boolean;
}

/**
 * The console's only kind of plot: lines or bars over time, with the same values as a table, for readers who cannot see
 * the plot or want exact values.
 */
export function Plot({ title, times, series, format, shape = "line", isWhole = false, isNamedOnly = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const [pointed, setPointed] = useState<Pointed | undefined>(undefined);
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
    const style = { names: names.split("\n"), format, isDark, shape, isWhole };
    const options = toOptions(element, element.clientWidth, style, setPointed);
    const made = new uPlot(options, toData(times, series, shape), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: plotHeight }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [names, isDark, shape, isWhole]);
  useEffect(() => {
    plot.current?.setData(toData(times, series, shape));
  }, [times, series, shape]);
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <Legend series={series} format={format} isNamedOnly={isNamedOnly} />
      </figcaption>
      <div ref={box} class="plot-box" aria-hidden="true">
        {isEmpty(series) && <p class="plot-empty">Nothing in this time</p>}
        {pointed && <PlotTip pointed={pointed} times={times} series={series} format={format} />}
      </div>
      <PlotTable title={title} times={times} series={series} format={format} />
    </figure>
  );
}

function Legend({ series, format, isNamedOnly }: Pick<Props, "series" | "format" | "isNamedOnly">) {
  return (
    <span class="legend">
      {series.map(({ name, values }, index) => {
        const last = values.at(-1);
        return (
          <span key={name} class={`legend-entry series-${index + 1}`}>
            <Clip text={name} />
            {!isNamedOnly && <b>{last === undefined || last === null ? "–" : format(last)}</b>}
          </span>
        );
      })}
    </span>
  );
}

/** The rows are created when the table is opened. */
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

function isEmpty(series: readonly Series[]): boolean {
  return series.every(({ values }) => values.every((value) => value === null));
}

/** The last series of a stack stands on all others and is drawn first, so that each covers the foot of the one above. */
function toData(times: readonly number[], series: readonly Series[], shape: Shape): uPlot.AlignedData {
  if (shape !== "stack") {
    return [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
  }
  const heights = series.map((_, index) => {
    const below = series.slice(0, index + 1);
    return times.map((_, at) => (below.every(({ values }) => values[at] === null) ? null : addAt(below, at)));
  });
  return [[...times], ...heights.reverse()] as uPlot.AlignedData;
}

function addAt(series: readonly Series[], at: number): number {
  return series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
}
