/** A span of time in whole hours or their multiples. An end that is absent is open. */
export interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Slots of one length, in hours, counted since 1970. */
export interface Slots extends Span {
  readonly hours: number;
  /** Whether they are beyond the span, and are to be taken off those that are added. */
  readonly isBeyond: boolean;
}

/**
 * Covers a span of hours exactly by few slots: each of its ends is moved to the closest end of a longer slot, as often as there
 * are longer ones, and the hours between are added, or taken off where it was moved outwards. Lengths are in hours, the shortest
 * first; each divides the next one, and the first is 1.
 */
export function cutHours(span: Span, lengths: readonly number[]): Slots[] {
  const slots: Slots[] = [];
  let { from, to } = span;
  const cut = (hours: number, part: Span, isBeyond = false) => {
    if (part.from === undefined || part.from !== part.to) {
      slots.push({ hours, from: divide(part.from, hours), to: divide(part.to, hours), isBeyond });
    }
  };
  /** What is between an end of the span and a moment after it, or before it. */
  const cutBetween = (hours: number, first: number, last: number) =>
    first < last ? cut(hours, { from: first, to: last }) : cut(hours, { from: last, to: first }, true);
  for (const [at, hours] of lengths.entries()) {
    const longer = lengths[at + 1];
    const first = longer === undefined ? from : round(from, longer);
    const last = longer === undefined ? to : round(to, longer);
    if (longer === undefined || (first !== undefined && last !== undefined && first >= last)) {
      cut(hours, { from, to });
      return slots;
    }
    if (from !== undefined && first !== undefined) {
      cutBetween(hours, from, first);
    }
    if (last !== undefined && to !== undefined) {
      cutBetween(hours, last, to);
    }
    [from, to] = [first, last];
  }
  return slots;
}

const divide = (hour: number | undefined, hours: number) => (hour === undefined ? undefined : hour / hours);
const round = (hour: number | undefined, hours: number) =>
  hour === undefined ? undefined : Math.round(hour / hours) * hours;
