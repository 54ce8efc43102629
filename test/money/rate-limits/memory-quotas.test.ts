import { beforeEach, expect, test } from "@jest/globals";
import { MemoryQuotas } from "#src/money/rate-limits/memory-quotas.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

let clock: ManualClock;
let quotas: MemoryQuotas;
beforeEach(() => {
  clock = new ManualClock();
  quotas = new MemoryQuotas(clock);
});

const take = (amount: number, limit = 1000, name = "k") => {
  const { states, full } = quotas.take([{ name, limit, amount }]);
  return { isTaken: full === undefined, ...states[0] };
};

test("what runs counts with its bound, what has ended with its count, for a minute", () => {
  expect(take(600)).toMatchObject({ isTaken: true, used: 600, resetAfterMs: 60_000 });
  expect(take(500)).toMatchObject({ isTaken: false, used: 600, waitMs: 1000, resetAfterMs: 60_000 });
  quotas.give("k", 600, 100);
  expect(take(900)).toMatchObject({ isTaken: true, used: 1000 });
  quotas.give("k", 900, 900);
  expect(take(1)).toMatchObject({ isTaken: false, used: 1000, waitMs: 60_000 });
  clock.advance(59_999);
  expect(take(1).isTaken).toBe(false);
  clock.advance(1);
  expect(take(1)).toMatchObject({ isTaken: true, used: 1 });
});

test("the wait ends when enough was counted long ago enough", () => {
  for (const amount of [300, 300, 400]) {
    take(amount);
    quotas.give("k", amount, amount);
    clock.advance(10_000);
  }
  const { waitMs = 0 } = take(500);
  expect(waitMs).toBe(40_000); // the first two
  clock.advance(waitMs - 1);
  expect(take(500).isTaken).toBe(false);
  clock.advance(1);
  expect(take(500).isTaken).toBe(true);
});

test("a run whose bound is above the whole limit has its turn when nothing counts", () => {
  take(10);
  expect(take(5000).isTaken).toBe(false);
  quotas.give("k", 10, 10);
  const { isTaken, waitMs = 0 } = take(5000);
  expect(isTaken).toBe(false);
  clock.advance(waitMs);
  expect(take(5000)).toMatchObject({ isTaken: true, used: 5000 });
  expect(take(1).isTaken).toBe(false);
});

test("a wait is never longer than a minute, wherever in its second something was counted", () => {
  clock.advance(123);
  take(1000);
  quotas.give("k", 1000, 400);
  clock.advance(300);
  quotas.give("k", 0, 600);
  expect(take(1)).toMatchObject({ isTaken: false, waitMs: 60_000, resetAfterMs: 60_000 });
  clock.advance(59_999);
  expect(take(1)).toMatchObject({ isTaken: false, used: 1000 });
  clock.advance(1);
  expect(take(1).isTaken).toBe(true);
});

test("of several quotas all are taken or none", () => {
  const demand = (name: string, amount: number) => ({ name, limit: 2, amount });
  quotas.take([demand("b", 2)]);
  expect(quotas.take([demand("a", 1), demand("b", 1)])).toMatchObject({ full: 1, states: [{ used: 0 }, { used: 2 }] });
  quotas.give("b", 2, 0);
  expect(quotas.take([demand("a", 1), demand("b", 1)])).toMatchObject({
    full: undefined,
    states: [{ used: 1 }, { used: 1 }],
  });
});

test("only quotas of which something counts take memory", () => {
  take(1, 10, "held");
  for (let i = 0; i < 1000; i++) {
    take(1, 10, `k${i}`);
    quotas.give(`k${i}`, 1, 1);
  }
  expect(quotas.size).toBe(1001);
  clock.advance(61_000);
  for (let i = 0; i < 1000; i++) {
    take(1, 10, "one");
    quotas.give("one", 1, 0);
  }
  expect(quotas.size).toBe(1);
  expect(take(10, 10, "held").isTaken).toBe(false);
});
