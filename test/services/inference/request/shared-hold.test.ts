import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SettleStatus } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import { shareHold } from "#src/services/inference/request/shared-hold.ts";

const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

function share(covered: number, wanted: readonly number[]) {
  const seen = { progress: [] as ChargedTokens[], ended: [] as unknown[] };
  const { holds: parts } = shareHold(
    {
      runId: "run-1",
      inputTokens: wanted.length,
      outputTokens: covered,
      progress: (counted) => void seen.progress.push(counted),
      settle: async (counted, status) => void seen.ended.push([counted, status]),
      release: () => void seen.ended.push("released"),
    },
    wanted.map((outputTokens) => tokens(1, outputTokens)),
  );
  return { parts, seen };
}

test.each<[number, number[], number[]]>([
  [100, [30, 70], [30, 70]],
  [64, [100, 100], [32, 32]],
  [64, [100, 20], [53, 10]],
  [64, Array(16).fill(1000), Array(16).fill(4)],
  [5, [1000, 1, 1, 1], [2, 1, 1, 1]],
])("%d tokens of output are shared between those who want %j as %j", (covered, wanted, expected) => {
  const { parts } = share(covered, wanted);
  expect(parts.map(({ outputTokens }) => outputTokens)).toEqual(expected);
});

test("parts together never have more output than the hold", () => {
  const outputs = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 2, maxLength: 40 });
  fc.assert(
    fc.property(outputs, fc.nat({ max: 100_000 }), (wanted, more) => {
      const covered = wanted.length + more;
      const { parts } = share(covered, wanted);
      expect(parts.reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBeLessThanOrEqual(covered);
      expect(Math.min(...parts.map(({ outputTokens }) => outputTokens))).toBeGreaterThan(0);
    }),
  );
});

test("what is counted so far is a lower bound until all are counted: the hold shrinks to the first count", () => {
  const { parts, seen } = share(100, [50, 50]);
  parts[0]?.progress(tokens(7, 1));
  parts[1]?.progress({ ...tokens(3, 2), isLowerBound: true });
  parts[1]?.progress(tokens(5, 2));
  expect(seen.progress).toEqual([
    { ...tokens(7, 1), isLowerBound: true },
    { ...tokens(10, 3), isLowerBound: true },
    tokens(12, 3),
  ]);
});

test("the lower bound of a part that broke off stands", async () => {
  const { parts, seen } = share(100, [50, 50]);
  parts[0]?.progress({ ...tokens(3, 2), isLowerBound: true });
  const settled = parts[0]?.settle(tokens(3, 2), "failed");
  parts[1]?.progress(tokens(5, 2));
  expect(seen.progress.at(-1)).toEqual(tokens(8, 4));
  await settled;
});

test.each<[string, (SettleStatus | "released")[], unknown]>([
  ["all are complete", ["completed", "completed"], [tokens(2, 4), "completed"]],
  ["one was left", ["completed", "cancelled"], [tokens(2, 4), "cancelled"]],
  ["one failed", ["failed", "cancelled"], [tokens(2, 4), "failed"]],
  ["one never began", ["cancelled", "released"], [tokens(1, 2), "cancelled"]],
  ["none began", ["released", "released"], "released"],
])("it is ended once, by the last, when %s", async (_, ends, expected) => {
  const { parts, seen } = share(100, [50, 50]);
  for (const [index, end] of ends.entries()) {
    expect(seen.ended).toEqual([]);
    if (end === "released") {
      parts[index]?.release();
    } else {
      await parts[index]?.settle(tokens(1, 2), end);
    }
  }
  expect(seen.ended).toEqual([expected]);
});
