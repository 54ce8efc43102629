import { expect, test } from "@jest/globals";
import { type Flood, flood, usualFlood } from "./flood.ts";

// One of twenty accounts sends twice of what the fleet can read, at the default settings: what the others feel of it.

const minutes = 1;

test.each<[string, Partial<Flood>, { readonly p50: number; readonly p99: number }]>([
  ["prompts of 24,000 tokens", {}, { p50: 1000, p99: 15_000 }],
  ["where no server tells its cache", { knowsKv: false }, { p50: 1000, p99: 15_000 }],
  ["four times of what can be read", { times: 4 }, { p50: 1000, p99: 15_000 }],
  ["others who need four fifths by themselves", { others: 0.8 }, { p50: 1000, p99: 15_000 }],
  ["prompts of 100,000 tokens", { promptTokens: 100_000 }, { p50: 2000, p99: 15_000 }],
])("a flood of %s", async (_, more, limits) => {
  const { others, flooder, tokens } = await flood({ ...usualFlood, minutes, ...more });
  expect(others.p50).toBeLessThanOrEqual(limits.p50);
  expect(others.p99).toBeLessThanOrEqual(limits.p99);
  expect(others.refused).toBe(0);
  expect(flooder.served).toBeGreaterThan(50 * minutes); // it gets what the others leave
  expect(tokens).toBeGreaterThan(0.95 * 8 * 25_000 * minutes * 60); // and no server stands idle
});
