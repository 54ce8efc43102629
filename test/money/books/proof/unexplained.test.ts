import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Unexplained } from "#src/money/books/proof/unexplained.ts";

const ids = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{4}$/), { minLength: 1, maxLength: 300 });

/** Reads all ranges of ids, one after the other, and says which of them are explained. */
function ranges(most: number, read: (sums: Unexplained) => void): boolean[] {
  const explained: boolean[] = [];
  for (let from: string | undefined, isOver = false; !isOver; ) {
    const sums = new Unexplained(most, from);
    read(sums);
    explained.push(sums.isEmpty);
    isOver = sums.next === undefined;
    from = sums.next;
  }
  return explained;
}

/** Adds a sum for each id, and takes it away in two parts; what is added for one of them is too much. */
function explain(sums: Unexplained, some: readonly string[], wrong?: string): void {
  for (const id of some) {
    sums.add(id, id === wrong ? "7 11" : "7 10");
  }
  for (const part of ["3 4", "4 6"]) {
    for (const id of some) {
      sums.take(id, part);
    }
  }
}

test("sums of any number of ids are explained range by range, and one that is wrong is found", () => {
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 50 }), fc.nat(), (some, most, which) => {
      const right = ranges(most, (sums) => explain(sums, some));
      expect(right).not.toContain(false);
      expect(right.length).toBeLessThanOrEqual(some.length);
      const wrong = ranges(most, (sums) => explain(sums, some, some[which % some.length]));
      expect(wrong.filter((isExplained) => !isExplained)).toHaveLength(1);
    }),
  );
});

test("sums beyond 64 bits are exact, and one that nothing is stored for is not explained", () => {
  const sums = new Unexplained(10);
  sums.add("a", String(2n ** 70n + 1n));
  sums.take("a", String(2n ** 70n));
  expect(sums.isEmpty).toBe(false);
  sums.take("a", "1");
  expect(sums.isEmpty).toBe(true);
  sums.take("b", "0");
  expect(sums.isEmpty).toBe(true);
  sums.take("b", "1");
  expect(sums.isEmpty).toBe(false);
});
