import { expect, test } from "@jest/globals";
import { Arrivals } from "#lib/door/connections/arrivals.ts";
import { toNetworks } from "#lib/door/connections/limits.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

function start(connectionsPerAddress: number, connections = 20_000) {
  const clock = new ManualClock();
  const arrivals = new Arrivals({ connections, connectionsPerAddress, firstBytesMs: 15_000 }, clock);
  /** How many of so many new connections are let in. */
  const enter = (times: number, toAddress: (at: number) => string) =>
    Array.from({ length: times }, (_, at) => arrivals.enter(toNetworks(toAddress(at)))).filter(Boolean).length;
  return { clock, enter };
}

test.each([
  ["few", 50, 100, 50],
  ["many", 256, 256, 50],
  ["very many", 10_000, 10_000, 500],
])("an address that may have %s connections makes as many at once, and then some a second", (_, most, burst, pace) => {
  const { clock, enter } = start(most);
  const from = () => "203.0.113.1";
  expect(enter(3 * burst, from)).toBe(burst);
  clock.advance(1000);
  expect(enter(3 * burst, from)).toBe(pace);
  clock.advance(1000);
  expect(enter(3 * burst, from)).toBe(pace); // those that were refused cost nothing
});

test.each([
  ["a /24", (at: number) => `203.0.113.${at % 250}`],
  ["a /56", (at: number) => `2001:db8:0:1${(at % 250).toString(16).padStart(2, "0")}::1`],
])("%s makes as many as four addresses, and takes nothing from others", (_, from) => {
  const { clock, enter } = start(100);
  expect(enter(2000, from)).toBe(400);
  clock.advance(1000);
  expect(enter(2000, from)).toBe(200);
  expect(enter(1, () => "192.0.2.1")).toBe(1);
});

test("this machine, where a proxy may run, makes as many at once as it may have", () => {
  const { clock, enter } = start(100);
  expect(enter(20_000, () => "127.0.0.1")).toBe(10_000);
  clock.advance(1000);
  expect(enter(20_000, () => "127.0.0.1")).toBe(500);
});
