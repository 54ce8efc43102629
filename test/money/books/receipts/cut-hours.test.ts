import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { cutHours, type Slots, type Span } from "#src/money/books/receipts/cut-hours.ts";
import { spanHours } from "#src/money/store/spans.ts";

const day = 24;
/** Hours between which all spans of the tests lie, where open ends begin and end. */
const [first, last] = [490_000, 500_000];

/** How often each hour is counted. */
function counted(slots: readonly Slots[]): Map<number, number> {
  const times = new Map<number, number>();
  for (const { hours, from = Math.floor(first / hours), to = Math.ceil(last / hours), isOff } of slots) {
    for (let hour = from * hours; hour < to * hours; hour++) {
      times.set(hour, (times.get(hour) ?? 0) + (isOff ? -1 : 1));
    }
  }
  return times;
}

const countOf = (slots: readonly Slots[]) =>
  slots.reduce((sum, { from = Number.NaN, to = Number.NaN }) => sum + to - from, 0);

const ends = fc
  .tuple(fc.integer({ min: first + 2000, max: last - 2000 }), fc.integer({ min: 0, max: 3000 }))
  .map(([from, length]) => ({ from, to: Math.min(from + length, last - 2000) }));
const spans: fc.Arbitrary<Span> = fc.oneof(
  ends,
  ends.map(({ from }) => ({ from, to: undefined })),
  ends.map(({ to }) => ({ from: undefined, to })),
  fc.constant({ from: undefined, to: undefined }),
);
const lengths = fc.constantFrom<readonly number[]>([1], [1, 24], [1, 6, 24], spanHours);

test("slots count each hour of a span once and no other hour", () => {
  fc.assert(
    fc.property(spans, lengths, (span, of) => {
      const slots = cutHours(span, of);
      const times = counted(slots);
      const wrong: number[] = [];
      for (let hour = first; hour < last; hour++) {
        const isWithin = hour >= (span.from ?? first) && hour < (span.to ?? last);
        if ((times.get(hour) ?? 0) !== (isWithin ? 1 : 0)) {
          wrong.push(hour);
        }
      }
      expect(wrong).toEqual([]);
      for (const { hours, from, to } of slots) {
        expect(of).toContain(hours);
        expect([from, to].every((end) => end === undefined || Number.isSafeInteger(end))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

test.each<[string, Span, readonly number[], readonly Slots[]]>([
  ["nothing", { from: 7, to: 7 }, spanHours, []],
  ["all there is", { from: undefined, to: undefined }, [1, 24], [slots(24, undefined, undefined)]],
  ["a day", { from: 5 * day, to: 6 * day }, [1, 24], [slots(24, 5, 6)]],
  ["a morning", { from: 5 * day + 8, to: 5 * day + 12 }, [1, 24], [slots(1, 128, 132)]],
  [
    "a day without its first hour",
    { from: 5 * day + 1, to: 6 * day },
    [1, 24],
    [slots(1, 120, 121, true), slots(24, 5, 6)],
  ],
  ["a day and an hour", { from: 5 * day, to: 6 * day + 1 }, [1, 24], [slots(24, 5, 6), slots(1, 144, 145)]],
  [
    "until the last hour of a day",
    { from: undefined, to: 6 * day - 1 },
    [1, 24],
    [slots(24, undefined, 6), slots(1, 143, 144, true)],
  ],
])("%s is cut into the fewest slots", (_, span, of, expected) => {
  expect(cutHours(span, of)).toEqual(expected);
});

function slots(hours: number, from: number | undefined, to: number | undefined, isOff = false): Slots {
  return { hours, from, to, isOff };
}

test("a month that began at any hour is cut into 14 slots at most", () => {
  const counts = Array.from({ length: spanHours.at(-1) ?? 0 }, (_, hour) =>
    countOf(cutHours({ from: first + hour, to: first + hour + 30 * day }, spanHours)),
  );
  expect(Math.max(...counts)).toBeLessThanOrEqual(14);
});
