const lengths = { hour: 3_600_000, day: 86_400_000 } as const;

/** The lengths of span, in UTC, by which margins may be grouped. */
export type SpanName = keyof typeof lengths;

/** The most spans in one request: each has a row for every model. */
export const mostSpans = 10_000;

/** A whole hour or day, or the requested part of one. */
export interface Span {
  /** Named as in usage: "2026-01-31T12:00:00Z" for an hour, "2026-01-31" for a day. */
  readonly name: string;
  /** How much of it servers cost something. */
  readonly ms: number;
}

/**
 * The hours or days between two times, in milliseconds since the epoch. The first and the last may be parts. Undefined:
 * there are too many. What is before `beganMs` costs nothing.
 */
export function splitSpans(by: SpanName, fromMs: number, toMs: number, beganMs = 0): Span[] | undefined {
  const length = lengths[by];
  const [first, last] = [Math.floor(fromMs / length), Math.ceil(toMs / length)];
  if (last - first > mostSpans) {
    return undefined;
  }
  return Array.from({ length: last - first }, (_, at) => {
    const begin = (first + at) * length;
    return {
      name: toName(by, begin),
      ms: lengthFrom(beganMs, Math.max(fromMs, begin), Math.min(toMs, begin + length)),
    };
  });
}

/** How long a span is after the beginning. */
export function lengthFrom(beganMs: number, fromMs: number, toMs: number): number {
  return Math.max(0, toMs - Math.max(fromMs, beganMs));
}

function toName(by: SpanName, begin: number): string {
  const text = new Date(begin).toISOString();
  return by === "day" ? text.slice(0, 10) : text.replace(".000Z", "Z");
}
