/** A span of time in whole hours or their multiples. An end that is absent is open. */
export interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Slots of one length, in hours, counted since 1970. */
export interface Slots extends Span {
  readonly hours: number;
}

/**
 * Cuts a span of hours into as few slots as cover it exactly: long ones in its middle, the shorter the nearer to its ends.
 * Lengths are in hours, the shortest first; each divides the next one, and the first is 1.
 */
export function cutHours(span: Span, lengths: readonly number[]): Slots[] {
  const slots: Slots[] = [];
  let { from, to } = span;
  const cut = (hours: number, part: Span) => {
    if (part.from === undefined || part.from !== part.to) {
      slots.push({ hours, from: divide(part.from, hours), to: divide(part.to, hours) });
    }
  };
  for (const [at, hours] of lengths.entries()) {
    const longer = lengths[at + 1];
    const first = longer === undefined || from === undefined ? from : Math.ceil(from / longer) * longer;
    const last = longer === undefined || to === undefined ? to : Math.floor(to / longer) * longer;
    if (longer === undefined || (first !== undefined && last !== undefined && first >= last)) {
      cut(hours, { from, to });
      return slots;
    }
    if (first !== undefined) {
      cut(hours, { from, to: first });
    }
    if (last !== undefined) {
      cut(hours, { from: last, to });
    }
    [from, to] = [first, last];
  }
  return slots;
}

const divide = (hour: number | undefined, hours: number) => (hour === undefined ? undefined : hour / hours);
