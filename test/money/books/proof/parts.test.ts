import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { partsOf } from "#src/money/books/proof/parts.ts";

const hourMs = 3_600_000;
const times = fc.uniqueArray(fc.integer({ min: hourMs, max: 200 * hourMs }), { minLength: 2, maxLength: 60 });

test("the parts of receipts follow each other, from the first receipt to the newest that was there", () => {
  fc.assert(
    fc.property(times, (some) => {
      const cuts = some.sort((a, b) => a - b);
      const parts = partsOf("receipts", cuts);
      expect(parts.map(({ to }) => to)).toEqual(cuts);
      expect(parts.map(({ from }) => from)).toEqual([undefined, ...cuts.slice(0, -1)]);
    }),
  );
});

test("the parts of hours are whole hours, follow each other and leave none out", () => {
  fc.assert(
    fc.property(times, (some) => {
      const parts = partsOf(
        "hours",
        some.sort((a, b) => a - b),
      );
      expect(parts[0]?.from).toBeUndefined();
      expect(parts.at(-1)?.to).toBeUndefined();
      for (const [at, { from = 0, to = Number.POSITIVE_INFINITY }] of parts.entries()) {
        expect(from % hourMs).toBe(0);
        expect(from).toBeLessThan(to);
        expect(from).toBe(parts[at - 1]?.to ?? 0);
      }
    }),
  );
});

test.each([undefined, "sums", "hours", "receipts"] as const)("few receipts are one part (%s)", (kind) => {
  expect(partsOf(kind, [])).toEqual([{}]);
});
