import { expect, test } from "@jest/globals";
import { Turns } from "#lib/door/counts/turns.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const rate = { perSecond: 10, burst: 20 };

test("what a turn would wait is told without taking it", () => {
  const turns = new Turns(new ManualClock());
  turns.take("a", 20, rate);
  expect([1, 2, 3].map(() => turns.wait("a", rate))).toEqual([100, 100, 100]);
  expect(turns.wait("b", rate)).toBe(0);
});

test("no more than 20,000 networks are kept", () => {
  const clock = new ManualClock();
  const turns = new Turns(clock);
  for (let at = 0; at < 21_000; at += 1) {
    turns.take(`network ${at}`, 1, rate);
  }
  expect(turns.size).toBe(20_000);
  clock.advance(1000);
  turns.take("another", 1, rate);
  expect(turns.size).toBe(1);
});
