import { expect, test } from "@jest/globals";
import { trackCount, trackProgress, whileWaiting } from "../../../src/cli/shared/progress.ts";

test("a task of known size tells where it is every two seconds, and how long it still takes", () => {
  const notes: string[] = [];
  let now = 0;
  const report = trackProgress("copying", "rows", { progress: (text) => void notes.push(text) }, () => now);
  for (const [at, done] of [
    [500, 0],
    [1999, 100_000],
    [2000, 100_000],
    [3000, 200_000],
    [4000, 250_000],
  ] as const) {
    now = at;
    report(done, 1_000_000);
  }
  expect(notes).toEqual([
    "copying: 10 %, 100,000 of 1,000,000 rows, about 18 s left",
    "copying: 25 %, 250,000 of 1,000,000 rows, about 12 s left",
  ]);
});

test("a wait tells how long it has lasted and how much longer it may, a short one nothing", async () => {
  const notes: string[] = [];
  const io = { progress: (text: string) => void notes.push(text) };
  expect(await whileWaiting("the core works on it", 60_000, io, async () => 1)).toBe(1);
  expect(notes).toEqual([]);
  const told = Promise.withResolvers<void>();
  await whileWaiting(
    "the core works on it",
    60_000,
    { progress: (text) => told.resolve(void notes.push(text)) },
    () => told.promise,
  );
  expect(notes).toEqual([expect.stringMatching(/^the core works on it for [2-9] s; at most 5[1-8] s more$/)]);
});

test("a task of unknown size tells every two seconds how much it has done, and where it is", () => {
  const notes: string[] = [];
  let now = 0;
  const report = trackCount("receipts", "receipts", { progress: (text) => void notes.push(text) }, () => now);
  for (const [at, done] of [
    [1999, 1000],
    [2000, 2000],
    [3999, 3000],
    [4500, 4000],
  ] as const) {
    now = at;
    report(done, done === 4000 ? undefined : "2026-01-31");
  }
  expect(notes).toEqual(["receipts: 2,000 receipts so far, at 2026-01-31", "receipts: 4,000 receipts so far"]);
});
