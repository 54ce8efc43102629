import { expect, test } from "@jest/globals";
import { describeProgress, trackProgress } from "#lib/text/progress.ts";

test("a task of known size tells where it is every two seconds, and how long it still takes", () => {
  const notes: string[] = [];
  let now = 0;
  const report = trackProgress(
    "copying",
    "rows",
    (text) => void notes.push(text),
    () => now,
  );
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

test.each([
  [{ done: 0, total: 31, place: "the first rule" }, "proving: 0 %, 0 of 31 rules, at the first rule"],
  [{ done: 0, total: 0 }, "proving: counting rules"],
  [{ done: 31, total: 31 }, "proving: 100 %, 31 of 31 rules, about 0 s left"],
  [{ done: 40, total: 31 }, "proving: 100 %, 40 of 31 rules, about 0 s left"],
])("%j after four seconds is told as %s", (progress, text) => {
  expect(describeProgress("proving", "rules", progress, 4000)).toBe(text);
});
