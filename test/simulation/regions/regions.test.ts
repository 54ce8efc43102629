import { expect, test } from "@jest/globals";
import { breaks } from "./breaks.ts";
import { simulate } from "./simulate.ts";

const requests = 200;
/** Among this many worlds, one shows a break. */
const mostWorlds = 40;

test("a seed lives the same world of regions each time", async () => {
  const first = await simulate(4, { requests });
  expect(await simulate(4, { requests })).toEqual(first);
  expect(first.events).toBeGreaterThan(1000);
});

test.each([1, 2, 3, 5, 8, 13, 100_774, 901_341])("world %i of regions keeps every promise", async (seed) => {
  const { violations, admitted, faults } = await simulate(seed, { requests });
  expect({ seed, violations }).toEqual({ seed, violations: [] });
  expect(admitted).toBeGreaterThan(0);
  expect(faults).toBeGreaterThan(0);
});

test("a world of regions that nobody has seen before keeps every promise", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations } = await simulate(seed, { requests });
  const replay = `npm run simulate -- --regions 0 --seed ${seed} --requests ${requests} --history`;
  expect({ replay, violations }).toEqual({ replay, violations: [] });
});

test("with no faults a region refuses hardly anybody for whom there is money", async () => {
  const { wrong, violations } = await simulate(10, { requests, only: [] });
  expect({ wrong, violations }).toEqual({ wrong: 0, violations: [] });
});

test("a poor account's requests are refused hardly ever while the home shard has money for two of them", async () => {
  const poor = { regions: 3, wealth: "poor", meanMs: 1000 / 300, isFaultless: true, requests: 6000 } as const;
  const { wrongAtHome, refusals, requests } = await simulate(7, poor);
  expect(refusals).toBeGreaterThan(1000);
  expect(wrongAtHome / requests).toBeLessThanOrEqual(0.001);
});

test.each(breaks)("the judges of regions notice it when $name", async ({ apply, seed: first = 1, ...settings }) => {
  const restore = apply();
  const found: string[] = [];
  try {
    for (let seed = first; seed < first + mostWorlds && found.length === 0; seed++) {
      found.push(...(await simulate(seed, { requests, ...settings })).violations);
    }
  } finally {
    restore();
  }
  expect(found).not.toEqual([]);
});
