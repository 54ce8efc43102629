import { expect, test } from "@jest/globals";
import { pacer } from "#lib/time/pacer.ts";

/** A clock whose pauses take no time but the one that they are told. */
function pausing() {
  const pauses: number[] = [];
  let now = 0;
  return {
    pauses,
    work: (ms: number) => {
      now += ms;
    },
    clock: {
      monotonic: () => now,
      after: (ms: number, act: () => void) => {
        pauses.push(ms);
        now += ms;
        act();
        return () => {};
      },
    },
  };
}

test("pauses so many times as long as the work took, and a moment at least", async () => {
  const { clock, work, pauses } = pausing();
  const pace = pacer(clock, 9);
  for (const ms of [100, 0, 20]) {
    work(ms);
    await pace();
  }
  expect(pauses).toEqual([900, 2, 180]);
});

test("once it has paused for long enough in all, it pauses as long as the work took", async () => {
  const { clock, work, pauses } = pausing();
  const pace = pacer(clock, 9, 2000);
  for (const ms of [100, 100, 100, 100]) {
    work(ms);
    await pace();
  }
  expect(pauses).toEqual([900, 900, 200, 100]);
});

test("a smaller share stays as it is", async () => {
  const { clock, work, pauses } = pausing();
  const pace = pacer(clock, 0.5, 60);
  for (const ms of [100, 100]) {
    work(ms);
    await pace();
  }
  expect(pauses).toEqual([50, 50]);
});
