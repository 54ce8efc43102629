import { expect, test } from "@jest/globals";
import { createFailedAttempts, networkOf } from "../../src/interceptors/failed-attempts.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["2001:db8::3:4:5:6", "2001:db8:0:0"],
])("%s belongs to %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("failures count by network, and those over the limit have to wait", async () => {
  const attempts = createFailedAttempts(2, 60);
  expect(await attempts.count("2001:db8:1:2::1")).toBeUndefined();
  expect(await attempts.count("2001:db8:1:2::2")).toBeUndefined();
  const wait = await attempts.count("2001:db8:1:2::3");
  expect(wait).toBeGreaterThan(50_000);
  expect(wait).toBeLessThanOrEqual(60_000);
  expect(await attempts.count("2001:db8:1:3::1")).toBeUndefined();
});
