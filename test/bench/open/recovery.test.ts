import { expect, test } from "@jest/globals";
import { type Answered, recoveryOf } from "./recovery.ts";

const stall = { from: 900, to: 1000 };

/** A request each millisecond until 2 s, each answered after what `msAt` has for its moment. */
const answers = (msAt: (sentAt: number) => number): Answered[] =>
  Array.from({ length: 2000 }, (_, sentAt) => ({ sentAt, ms: msAt(sentAt) }));

test("a system that is as before at once has recovered at once", () => {
  expect(
    recoveryOf(
      answers((at) => (at >= 900 && at < 1000 ? 1100 - at : 2)),
      stall,
      2000,
    ),
  ).toBe(0);
});

test("a recovery begins with the first of three windows that are as before", () => {
  const slowUntil1220 = answers((at) => (at >= 900 && at < 1220 ? 100 : 2));
  expect(recoveryOf(slowUntil1220, stall, 2000)).toBe(250);
});

test("one window that is as before is no recovery", () => {
  const calmOnce = answers((at) => (at >= 900 && at < 1400 && !(at >= 1100 && at < 1150) ? 100 : 2));
  expect(recoveryOf(calmOnce, stall, 2000)).toBe(400);
});

test("a slow window long after the recovery does not undo it", () => {
  expect(
    recoveryOf(
      answers((at) => (at >= 900 && at < 1100 ? 100 : at >= 1700 && at < 1750 ? 50 : 2)),
      stall,
      2000,
    ),
  ).toBe(100);
});

test("a window without an answer is no recovery", () => {
  const silent = answers(() => 2).filter(({ sentAt }) => sentAt < 900 || sentAt >= 1300);
  expect(recoveryOf(silent, stall, 2000)).toBe(300);
});

test("a system that stays slow has not recovered", () => {
  expect(
    recoveryOf(
      answers((at) => (at >= 900 ? 100 : 2)),
      stall,
      2000,
    ),
  ).toBe(Number.POSITIVE_INFINITY);
});
