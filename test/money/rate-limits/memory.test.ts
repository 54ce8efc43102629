import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

test("at most the limit is admitted in any rolling minute, and Retry-After is true to the second", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 12 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), steps, (limit, times) => {
      const clock = new ManualClock();
      const windows = new MemoryWindows(clock);
      const admitted: number[] = [];
      for (const [gap, burst] of times) {
        clock.advance(gap);
        for (let i = 0; i < burst; i++) {
          const now = clock.monotonic();
          const recent = admitted.filter((time) => time > now - 60_000).length;
          const before = windows.read("k", limit);
          const outcome = windows.admit("k", limit);
          expect(outcome.admitted).toBe(recent < limit);
          expect(before.used).toBe(recent);
          expect(before.waitMs === 0).toBe(recent < limit);
          if (outcome.admitted) {
            admitted.push(now);
          } else {
            const retryAfter = Math.ceil(outcome.waitMs / 1000);
            expect(retryAfter).toBeGreaterThanOrEqual(1);
            expect(retryAfter).toBeLessThanOrEqual(60);
            const oneSecondEarlier = admitted.filter((time) => time > now + (retryAfter - 1) * 1000 - 60_000).length;
            expect(oneSecondEarlier).toBe(limit);
            expect(admitted.filter((time) => time > now + retryAfter * 1000 - 60_000).length).toBeLessThan(limit);
          }
        }
      }
    }),
  );
});

test("refused requests count nothing", () => {
  const clock = new ManualClock();
  const windows = new MemoryWindows(clock);
  for (let i = 0; i < 3; i++) {
    expect(windows.admit("k", 3).admitted).toBe(true);
  }
  for (let i = 0; i < 50; i++) {
    expect(windows.admit("k", 3).admitted).toBe(false);
    clock.advance(1000);
  }
  clock.advance(9_999);
  expect(windows.admit("k", 3)).toMatchObject({ admitted: false, waitMs: 1 });
  clock.advance(1);
  expect(windows.admit("k", 3)).toMatchObject({ admitted: true, used: 1, resetAfterMs: 60_000 });
});

test("keys do not share", () => {
  const windows = new MemoryWindows(new ManualClock());
  expect(windows.admit("a", 1).admitted).toBe(true);
  expect(windows.admit("b", 1).admitted).toBe(true);
  expect(windows.admit("a", 1).admitted).toBe(false);
});

test("a changed limit holds at once", () => {
  const clock = new ManualClock();
  const windows = new MemoryWindows(clock);
  for (let i = 0; i < 4; i++) {
    windows.admit("k", 4);
    clock.advance(1000);
  }
  expect(windows.admit("k", 5).admitted).toBe(true);
  // Five are in the window, admitted at 0, 1, 2, 3 and 4 s; with a limit of 2 the first four have to lapse.
  expect(windows.admit("k", 2)).toMatchObject({ admitted: false, waitMs: 59_000, used: 5 });
});

test("the wall clock does not matter", () => {
  const clock = new ManualClock();
  const windows = new MemoryWindows(clock);
  windows.admit("k", 1);
  clock.jump(3_600_000);
  expect(windows.admit("k", 1).admitted).toBe(false);
  clock.jump(-7_200_000);
  clock.advance(60_000);
  expect(windows.admit("k", 1).admitted).toBe(true);
});

test("idle keys are forgotten", () => {
  const clock = new ManualClock();
  const windows = new MemoryWindows(clock);
  for (let i = 0; i < 1000; i++) {
    windows.admit(`key ${i}`, 5);
  }
  expect(windows.size).toBe(1000);
  clock.advance(60_000);
  for (let i = 0; i < 600; i++) {
    windows.admit("busy", 1_000_000);
  }
  expect(windows.size).toBe(1);
});
