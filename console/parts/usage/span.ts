/** A span of time, by hours or days of UTC. */
export interface Span {
  /** The named period that it is. Empty: the address has its ends. */
  readonly period: string;
  readonly from: Date;
  /** Undefined: it goes on until now. */
  readonly to: Date | undefined;
  readonly step: "hour" | "day";
}

interface Period {
  readonly value: string;
  readonly text: string;
  readonly step: Span["step"];
  /** Hours or days, with the one that has begun. */
  readonly steps: number;
}

const stepMs = { hour: 3_600_000, day: 86_400_000 } as const;
/** A span of the address is shown by the hour up to these days. */
const mostDaysByHour = 3;

export const periods: readonly Period[] = [
  { value: "day", text: "24 hours", step: "hour", steps: 24 },
  { value: "week", text: "7 days", step: "day", steps: 7 },
  { value: "month", text: "30 days", step: "day", steps: 30 },
  { value: "quarter", text: "90 days", step: "day", steps: 90 },
];

/** The span that the address names by its ends or as a period; without one, the fallback. */
export function spanOf(query: URLSearchParams, fallback = "day", now = Date.now()): Span {
  const from = Date.parse(query.get("from") ?? "");
  if (!Number.isNaN(from) && from < now) {
    const to = Date.parse(query.get("to") ?? "");
    const end = to > from && to < now ? to : undefined;
    const step = ((end ?? now) - from) / stepMs.day <= mostDaysByHour ? "hour" : "day";
    return { period: "", from: new Date(from), to: end === undefined ? undefined : new Date(end), step };
  }
  const value = query.get("period") ?? fallback;
  const period = periods.find((one) => one.value === value) ?? periods.find((one) => one.value === fallback);
  if (period === undefined) {
    throw new Error(`There is no period ${fallback}.`);
  }
  return { period: period.value, ...lastSteps(period, now), to: undefined };
}

/** The last days up to now. */
export function lastDays(days: number, now = Date.now()): Span {
  return { period: "", ...lastSteps({ step: "day", steps: days }, now), to: undefined };
}

/** What tells whether two spans are the same. */
export function nameOf({ from, to, step }: Span): string {
  return `${step} ${from.toISOString()} ${to?.toISOString() ?? ""}`;
}

/** The ends of a span as the contract has them. */
export function toEnds({ from, to }: Span) {
  return { from: toTimestamp(from), ...(to === undefined ? {} : { to: toTimestamp(to) }) };
}

/** The start of every hour or day of a span, in Unix seconds. */
export function stepsOf({ from, to, step }: Span, now = Date.now()): readonly number[] {
  const length = stepMs[step];
  const first = Math.floor(from.getTime() / length);
  const last = Math.floor((to === undefined ? now : to.getTime() - 1) / length);
  return Array.from({ length: last - first + 1 }, (_, index) => ((first + index) * length) / 1000);
}

/** The seconds of an hour or a day. */
export function secondsOf(step: Span["step"]): number {
  return stepMs[step] / 1000;
}

function lastSteps({ step, steps }: Pick<Period, "step" | "steps">, now: number): Pick<Span, "from" | "step"> {
  const length = stepMs[step];
  return { step, from: new Date((Math.floor(now / length) - steps + 1) * length) };
}

function toTimestamp(date: Date) {
  return { seconds: BigInt(Math.floor(date.getTime() / 1000)) };
}
