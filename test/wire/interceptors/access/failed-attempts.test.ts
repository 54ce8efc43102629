import { expect, test } from "@jest/globals";
import { toNetwork } from "#lib/net/network.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["2001:db8::3:4:5:6", "2001:db8:0:0"],
])("%s belongs to %s", (address, network) => {
  expect(toNetwork(address)).toBe(network);
});

test("failures count by network, and those over the limit have to wait", () => {
  const attempts = createFailedAttempts({ points: 2 }, new ManualClock());
  expect(attempts.count("2001:db8:1:2::1")).toBeUndefined();
  expect(attempts.count("2001:db8:1:2::2")).toBeUndefined();
  expect(attempts.count("2001:db8:1:2::3")).toBe(60_000);
  expect(attempts.count("2001:db8:1:3::1")).toBeUndefined();
});

test("a network starts anew when its window is over", () => {
  const clock = new ManualClock();
  const attempts = createFailedAttempts({ points: 1 }, clock);
  attempts.count("203.0.113.7");
  clock.advance(20_000);
  expect(attempts.count("203.0.113.7")).toBe(40_000);
  clock.advance(40_000);
  expect(attempts.count("203.0.113.7")).toBeUndefined();
});

test("networks that are over make room, without a timer", () => {
  const clock = new ManualClock();
  const attempts = createFailedAttempts({ maxNetworks: 10 }, clock);
  for (let last = 0; last < 10; last += 1) {
    attempts.count(`203.0.113.${last}`);
  }
  clock.advance(60_000);
  attempts.count("198.51.100.1");
  expect(attempts.size).toBe(1);
});

test("300,000 networks are counted in bounded memory, and still throttled", () => {
  const attempts = createFailedAttempts({ maxNetworks: 1000 }, new ManualClock());
  let throttled = 0;
  for (let index = 0; index < 300_000; index += 1) {
    const network = index.toString(16).padStart(5, "0");
    if (attempts.count(`2001:db8:${network.slice(0, 2)}:${network.slice(2)}::1`) !== undefined) {
      throttled += 1;
    }
  }
  expect(attempts.size).toBeLessThanOrEqual(2000);
  expect(throttled).toBeGreaterThan(150_000); // each /56 has 256 of them and may fail 120 times
});

test("when there are too many wide networks as well the oldest is forgotten", () => {
  const attempts = createFailedAttempts({ maxNetworks: 5 }, new ManualClock());
  for (let block = 0; block < 100; block += 1) {
    attempts.count(`2001:db8:${block}::1`);
  }
  expect(attempts.size).toBe(10);
});
