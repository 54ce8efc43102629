import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { cutHours, type Slots } from "../../../../src/metering/books/receipts/cut-hours.ts";
import { spanHours } from "../../../../src/metering/store/spans.ts";

const lengths = fc.constantFrom<readonly number[]>([1], [1, 24], spanHours);
/** More than three of the longest slots. */
const hour = fc.integer({ min: 0, max: 6000 });

/** How often slots count an hour. */
const countsOf = (slots: readonly Slots[], at: number) =>
  slots
    .filter(({ hours, from = 0, to = Number.POSITIVE_INFINITY }) => at >= from * hours && at < to * hours)
    .reduce((sum, { isBeyond }) => sum + (isBeyond ? -1 : 1), 0);

test("each hour of a span is counted once, and none beyond it, whichever ends are open", () => {
  fc.assert(
    fc.property(lengths, fc.option(hour), fc.option(hour), (of, first, second) => {
      const [from, to] = first !== null && second !== null && first > second ? [second, first] : [first, second];
      const slots = cutHours({ from: from ?? undefined, to: to ?? undefined }, of);
      for (const each of slots) {
        expect([each.from, each.to].every((end) => end === undefined || Number.isInteger(end))).toBe(true);
      }
      for (let at = 0; at < 6100; at++) {
        const isWithin = at >= (from ?? 0) && at < (to ?? Number.POSITIVE_INFINITY);
        if (countsOf(slots, at) !== Number(isWithin)) {
          throw new Error(`hour ${at} of ${from} to ${to} is counted ${countsOf(slots, at)} times`);
        }
      }
    }),
  );
});

test("a span that began at any time reads few slots", () => {
  const slotsOf = (from: number) =>
    cutHours({ from, to: undefined }, spanHours)
      .filter(({ to }) => to !== undefined)
      .reduce((sum, { from: first = 0, to = 0 }) => sum + to - first, 0);
  const most = Math.max(...Array.from({ length: 1536 }, (_, from) => slotsOf(from)));
  expect(most).toBe(11); // half of the slots of each length that make up the next one: 3 + 2 + 2 + 2 + 2
});
