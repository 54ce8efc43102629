/** A span of time in whole hours or multiples of them. An absent end is open. */
export interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Slots of one length, in hours, counted since 1970. */
export interface Slots extends Span {
  readonly hours: number;
  /** Whether the sums of these slots are subtracted, because longer slots exceed the span. */
  readonly isOff: boolean;
}

interface Cut {
  readonly slots: readonly Slots[];
  /** The number of slots. */
  readonly count: number;
}

/**
 * Cuts a span of hours into as few slots as possible: long slots in the middle, shorter ones toward the ends. Slots at
 * an end are subtracted where that takes fewer than adding the missing ones. Lengths are in hours, shortest first; each
 * divides the next one, and the first is 1.
 */
export function cutHours(span: Span, lengths: readonly number[]): readonly Slots[] {
  return cut(span, lengths, new Map()).slots;
}

/** `done` keeps the cuts so far, because many ways lead to the same span of longer slots. */
function cut(span: Span, [hours = 1, ...longer]: readonly number[], done: Map<string, Cut>): Cut {
  const key = `${longer.length} ${span.from} ${span.to}`;
  const known = done.get(key);
  if (known !== undefined) {
    return known;
  }
  const [next] = longer;
  // Only slots of the longest length cover an open end.
  let fewest = between(hours, span.from, span.to, next === undefined ? 1 : Number.POSITIVE_INFINITY);
  for (const { from, to } of next === undefined ? [] : roundedSpans(span, next)) {
    const parts = [between(hours, span.from, from), cut({ from, to }, longer, done), between(hours, to, span.to)];
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    fewest = count < fewest.count ? { count, slots: parts.flatMap(({ slots }) => slots) } : fewest;
  }
  done.set(key, fewest);
  return fewest;
}

/**
 * The spans of slots of this length whose ends are next to the given span's. Those within the given span come first.
 */
function roundedSpans({ from, to }: Span, length: number): Span[] {
  const up = (hour: number) => Math.ceil(hour / length) * length;
  const down = (hour: number) => Math.floor(hour / length) * length;
  const begins = from === undefined ? [from] : [...new Set([up(from), down(from)])];
  const ends = to === undefined ? [to] : [...new Set([down(to), up(to)])];
  return begins
    .flatMap((begin) => ends.map((end) => ({ from: begin, to: end })))
    .filter((span) => span.from === undefined || span.to === undefined || span.from <= span.to);
}

/**
 * The slots from one hour to another, subtracted if the second hour comes first. An absent hour is an open end, which
 * counts as `open` slots.
 */
function between(hours: number, from: number | undefined, to: number | undefined, open = 0): Cut {
  if (from === to && (from !== undefined || open === 0)) {
    return { slots: [], count: 0 };
  }
  const isOff = from !== undefined && to !== undefined && to < from;
  const [begin, end] = isOff ? [to, from] : [from, to];
  const slots = [{ hours, from: divide(begin, hours), to: divide(end, hours), isOff }];
  return { slots, count: begin === undefined || end === undefined ? open : (end - begin) / hours };
}

const divide = (hour: number | undefined, hours: number) => (hour === undefined ? undefined : hour / hours);
