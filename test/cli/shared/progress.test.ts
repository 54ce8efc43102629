import { expect, test } from "@jest/globals";
import { whileTelling, whileWaiting } from "#src/cli/shared/progress.ts";

test("a task that reports its steps tells where it is, also while one takes long; a short one nothing", async () => {
  const notes: string[] = [];
  const told = Promise.withResolvers<void>();
  const io = { progress: (text: string) => told.resolve(void notes.push(text)) };
  expect(await whileTelling("proving", "rules", io, async (report) => report(1, 2))).toBeUndefined();
  expect(notes).toEqual([]);
  await whileTelling("proving", "rules", io, (report) => {
    report(8, 32, "every receipt has its lines");
    return told.promise;
  });
  expect(notes).toEqual([
    expect.stringMatching(/^proving: 25 %, 8 of 32 rules, about ([6-9]|\d\d+) s left, at every receipt has its lines$/),
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
