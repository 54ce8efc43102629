import { expect, test } from "@jest/globals";
import type { SettleStatus } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import { shareHold } from "#src/services/inference/request/shared-hold.ts";

const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

function share(covered: number, wanted: readonly number[]) {
  const seen = { progress: [] as ChargedTokens[], ended: [] as unknown[] };
  const { holds: parts } = shareHold(
    {
      runId: "run-1",
      outputTokens: covered,
      progress: (counted) => void seen.progress.push(counted),
      settle: async (counted, status) => void seen.ended.push([counted, status]),
      release: () => void seen.ended.push("released"),
    },
    wanted,
  );
  return { parts, seen };
}

test.each<[number, number[], number[]]>([
  [100, [30, 70], [30, 70]],
  [64, [100, 100], [32, 32]],
  [64, [100, 20], [53, 10]],
  [64, Array(16).fill(1000), Array(16).fill(4)],
])("%d tokens of output are shared between those who want %j as %j", (covered, wanted, expected) => {
  const { parts } = share(covered, wanted);
  expect(parts.map(({ outputTokens }) => outputTokens)).toEqual(expected);
});

test("inputs are told when all are counted: the hold shrinks to what it hears first", () => {
  const { parts, seen } = share(100, [50, 50]);
  parts[0]?.progress(tokens(7, 1));
  parts[1]?.progress(tokens(5, 2));
  expect(seen.progress).toEqual([tokens(0, 1), tokens(12, 3)]);
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
