import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { breaks } from "./breaks.ts";
import { SimulatedServer } from "./database/server.ts";
import { simulate } from "./simulate.ts";

const requests = 150;
/** Among so many worlds is one that shows it. */
const mostWorlds = 20;

let server: SimulatedServer;
beforeAll(async () => {
  server = await SimulatedServer.open();
}, 60_000);
afterAll(() => server.close());

test("a seed lives the same world each time", async () => {
  const first = await simulate(2, server, { requests });
  expect(await simulate(2, server, { requests })).toEqual(first);
  expect(first.events).toBeGreaterThan(1000);
}, 120_000);

test.each([1, 2, 3])(
  "world %i keeps every promise",
  async (seed) => {
    const { violations, admitted, faults } = await simulate(seed, server, { requests, without: ["failover"] });
    expect(violations).toEqual([]);
    expect(admitted).toBeGreaterThan(0);
    expect(faults).toBeGreaterThan(0);
  },
  120_000,
);

test.each(breaks)(
  "the judges notice it when $name",
  async ({ apply, only, instead }) => {
    const restore = apply();
    const found: string[] = [];
    try {
      for (let seed = 1; seed <= mostWorlds && found.length === 0; seed++) {
        found.push(...(await simulate(seed, server, { requests, only, ...(instead && { instead }) })).violations);
      }
    } finally {
      restore();
    }
    expect(found).not.toEqual([]);
  },
  120_000,
);
