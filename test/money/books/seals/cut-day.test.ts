import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { cutDay, cutHoursOf } from "#src/money/books/seals/cut-day.ts";

const hourMs = 3_600_000;

test("the spans of a day follow each other, cover it, and have few receipts each", () => {
  const counts = fc.array(fc.nat(500), { minLength: 24, maxLength: 24 });
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 200 }), (requests, size) => {
      const day = 20_000;
      const hours = new Map(requests.map((count, at) => [day * 24 + at, count]));
      const spans = cutDay(day, hours, size);
      expect(spans[0]?.from).toBe(day * 24 * hourMs);
      expect(spans.at(-1)?.to).toBe((day + 1) * 24 * hourMs);
      for (const [at, { from, to }] of spans.entries()) {
        expect(to).toBeGreaterThan(from);
        expect(from).toBe(spans[at - 1]?.to ?? from);
        const receipts = Array.from(
          hours,
          ([of, count]) =>
            Math.max(0, Math.min(to, (of + 1) * hourMs) - Math.max(from, of * hourMs)) * (count / hourMs),
        ).reduce((sum, part) => sum + part, 0);
        expect(receipts).toBeLessThanOrEqual(size + 1);
      }
    }),
  );
});

test("an empty day is one span", () => {
  expect(cutDay(1, new Map())).toEqual([{ from: 24 * hourMs, to: 48 * hourMs }]);
});

test("whole hours are taken together while they have few receipts", () => {
  const hours = new Map(Array.from({ length: 24 }, (_, at) => [24 + at, at === 5 ? 1000 : 10]));
  const lengths = cutHoursOf(1, hours, 100).map(({ from, to }) => (to - from) / hourMs);
  expect(lengths).toEqual([5, 1, 10, 8]);
  expect(cutHoursOf(1, new Map())).toEqual([{ from: 24 * hourMs, to: 48 * hourMs }]);
});
