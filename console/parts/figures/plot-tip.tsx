import type { FormatValue, Pointed } from "./plot-options.ts";
import type { Series } from "./series.ts";

interface Props {
  readonly pointed: Pointed;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: FormatValue;
}

const minuteSeconds = 60;
const daySeconds = 86_400;
const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const second = new Intl.DateTimeFormat(undefined, { ...clock, second: "2-digit" });
const minute = new Intl.DateTimeFormat(undefined, { ...clock, month: "short", day: "numeric" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** The time and the values under the pointer. Days are those of UTC. */
export function PlotTip({ pointed: { at, left, isRight }, times, series, format }: Props) {
  const time = times[at];
  if (time === undefined) {
    return null;
  }
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const shown = step >= daySeconds ? day : step < minuteSeconds ? second : minute;
  return (
    <div class={isRight ? "plot-tip right" : "plot-tip"} style={{ left: `${left}px` }}>
      <span>{shown.format(time * 1000)}</span>
      {series.map(({ name, values }, index) => {
        const value = values[at];
        return (
          <span key={name} class={`legend-entry series-${index + 1}`}>
            {name} <b>{value === undefined || value === null ? "–" : format(value)}</b>
          </span>
        );
      })}
    </div>
  );
}
