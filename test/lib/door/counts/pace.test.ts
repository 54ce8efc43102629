import { expect, test } from "@jest/globals";
import { Pace } from "#lib/door/counts/pace.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

function start() {
  const clock = new ManualClock();
  const pace = new Pace(10, clock);
  const takeAll = (address: string, times: number) => Array.from({ length: times }, () => pace.take(address, 1)).at(-1);
  return { clock, pace, takeAll };
}

test("what comes after a burst of two seconds has one turn after the other", () => {
  const { clock, pace, takeAll } = start();
  expect(takeAll("192.0.2.1", 20)).toBe(0);
  expect([1, 2, 3].map(() => pace.take("192.0.2.1", 1))).toEqual([100, 200, 300]);
  clock.advance(300);
  expect(pace.take("192.0.2.1", 1)).toBe(100);
  expect(pace.take("192.0.2.2", 1)).toBe(0);
});

test("nothing waits for more than ten seconds, and what is long over is forgotten", () => {
  const { clock, pace, takeAll } = start();
  expect(takeAll("192.0.2.1", 1000)).toBeLessThanOrEqual(10_000);
  expect(pace.take("192.0.2.1", 1_000_000)).toBeLessThanOrEqual(10_000);
  clock.advance(12_000);
  expect(pace.take("192.0.2.1", 20)).toBe(0);
});

test("what waits longest is spread over half of that time, so that a thousand that come at once do not come at once again", () => {
  const { pace, takeAll } = start();
  takeAll("192.0.2.1", 200);
  const waits = Array.from({ length: 1000 }, () => pace.take("192.0.2.1", 1)).sort((a, b) => a - b);
  expect(waits[0]).toBeGreaterThanOrEqual(5000);
  expect(waits.at(-1)).toBeLessThanOrEqual(10_000);
  expect(Math.max(...waits.map((ms, at) => ms - (waits[at - 1] ?? 5000)))).toBeLessThan(20);
});

test("a /24 or /56 has the turns of four addresses", () => {
  const { pace, takeAll } = start();
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]) {
    expect(takeAll(address, 20)).toBe(0);
  }
  expect(pace.take("192.0.2.5", 1)).toBe(25);
  expect(pace.take("192.0.3.5", 1)).toBe(0);
  for (const subnet of ["1", "2", "3", "4"]) {
    expect(takeAll(`2001:db8:1:${subnet}::9`, 20)).toBe(0);
  }
  expect(pace.take("2001:db8:1:5::9", 1)).toBe(25);
});

test("this machine, where a proxy may run, has as many as a /24", () => {
  const { pace, takeAll } = start();
  for (const address of ["127.0.0.1", "::1"]) {
    expect(takeAll(address, 80)).toBe(0);
    expect(pace.take(address, 1)).toBe(25);
  }
});

test("a network owes while it has had more than eight of late, the one around it more than four times as many", () => {
  const { clock, pace, takeAll } = start();
  expect(pace.isAsked).toBe(false);
  takeAll("192.0.2.1", 7);
  expect([pace.isAsked, pace.owes("192.0.2.1")]).toEqual([true, false]);
  takeAll("192.0.2.1", 1);
  expect([pace.owes("192.0.2.1"), pace.owes("192.0.2.2"), pace.owes("198.51.100.1")]).toEqual([true, false, false]);
  clock.advance(100);
  expect(pace.owes("192.0.2.1")).toBe(false);
  takeAll("192.0.2.2", 40);
  expect([pace.owes("192.0.2.1"), pace.owes("198.51.100.1")]).toEqual([true, false]);
  takeAll("127.0.0.1", 31);
  expect(pace.owes("127.0.0.1")).toBe(false);
});
