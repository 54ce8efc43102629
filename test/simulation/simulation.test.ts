import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Rule, rules } from "#src/money/books/proof/rules/reconcile-rules.ts";
import { breaks } from "./breaks/breaks.ts";
import { simulateBroken } from "./breaks/simulate-broken.ts";
import { SimulatedServer } from "./database/server.ts";
import { faults } from "./faults/faults.ts";
import { type Judge, judges } from "./judges/names.ts";
import { simulate } from "./simulate.ts";

/** The size of a short world. */
const small = { requests: 150, trafficMs: 20, faultsMs: 500 };
/** New worlds in each run of the test. */
const freshWorlds = 3;
/** Among this many worlds, one shows a break. */
const mostWorlds = 20;

let server: SimulatedServer;
beforeAll(async () => {
  server = await SimulatedServer.open();
}, 60_000);
afterAll(() => server.close());

test.each([
  { isNight: true },
  { isNight: true, isSqlite: true },
  { hasNews: true, isNight: false },
  { hasKeys: true, isNight: false, hasNews: false },
])(
  "the program waits for nothing outside of the time of its world: %j",
  async (kind) => {
    // Threads, files and timers of Node.js end sooner or later on another machine, so a seed would live other worlds.
    const outside = new Set<string>();
    Error.stackTraceLimit = 100; // what the program did may lie below much of Node.js
    const world = new AsyncLocalStorage<true>();
    const hook = createHook({
      init(_id, type) {
        // What is left of other test files of this process is none of the world's.
        const inside =
          type === "PROMISE" || type === "TickObject" || type === "Microtask" || world.getStore() === undefined;
        const stack = inside ? "" : String(new Error(type).stack);
        const isOfJudge = /[/\\](folder|read-archive|archived-receipts)\.ts/.test(stack); // once the world is over
        if (
          /[/\\](src|lib)[/\\](?!.*node_modules)/.test(stack) &&
          !/\b(gzip|hkdf)Sync\b|syncBufferWrapper/.test(stack) &&
          !isOfJudge
        ) {
          outside.add(stack);
        }
      },
    }).enable();
    await world.run(true, () => simulate(4, server, { ...small, ...kind })).finally(() => hook.disable());
    expect([...outside]).toEqual([]);
  },
  120_000,
);

async function keepsEveryPromise(seed: number, isSqlite = false) {
  const outcome = await simulate(seed, server, { ...small, isSqlite });
  const { requests, trafficMs, faultsMs } = small;
  const shape = `--requests ${requests} --traffic-ms ${trafficMs} --faults-ms ${faultsMs}${isSqlite ? " --sqlite" : ""}`;
  // This command line lives the same world again.
  expect({
    replay: `npm run simulate -- --seed ${seed} ${shape} --history`,
    violations: outcome.violations,
  }).toMatchObject({ violations: [] });
  return outcome;
}

test("a seed lives the same world each time, which keeps every promise", async () => {
  const first = await keepsEveryPromise(2);
  expect(await simulate(2, server, small)).toEqual(first);
  expect(first.events).toBeGreaterThan(1000);
  expect(first.admitted).toBeGreaterThan(0);
  expect(first.faults).toBeGreaterThan(0);
}, 120_000);

// Accounts of the worlds 1 and 2 have terms of their own.
test.each([1, 3, 7])(
  "world %i keeps every promise",
  async (seed) => {
    const { admitted, faults } = await keepsEveryPromise(seed);
    expect(admitted).toBeGreaterThan(0);
    expect(faults).toBeGreaterThan(0);
  },
  120_000,
);

test.each(Array.from({ length: freshWorlds }, () => Math.floor(Math.random() * 2 ** 31)))(
  "world %i, which nobody has seen before, keeps every promise",
  async (seed) => void (await keepsEveryPromise(seed)),
  120_000,
);

test.each([1, 3])(
  "world %i on SQLite keeps every promise",
  async (seed) => {
    const { admitted } = await keepsEveryPromise(seed, true);
    expect(admitted).toBeGreaterThan(0);
  },
  120_000,
);

test("a world whose own proof cannot be run breaks a promise, and says what to do", async () => {
  const untranslated: Rule = { name: "", table: "", sql: "select now()::text as id, 0, 0", only: "postgresql" };
  (rules as Rule[]).push(untranslated);
  const { violations } = await simulate(3, server, small).finally(() => (rules as Rule[]).pop());
  expect(violations[0]).toMatch(
    /^proofs: .* could not prove the books, because the simulation cannot run it: .*storage.ts/,
  );
}, 120_000);

const isOf = (judge: Judge) => (violation: string) => violation.startsWith(`${judge}: `);

test("every judge has a guarantee that is taken out", () => {
  expect([...new Set(breaks.map(({ judge }) => judge))].sort()).toEqual([...judges].sort());
});

test("every guarantee is taken out beside faults that there are", () => {
  const names = faults.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...new Set(breaks.flatMap(({ only }) => only))]));
});

test.each(breaks)(
  "the judge of $judge notices it when $name",
  async ({ name, judge, seed: first = 1 }) => {
    const found: string[] = [];
    for (let seed = first; seed < first + mostWorlds && !found.some(isOf(judge)); seed++) {
      found.push(...(await simulateBroken(name, seed, server, small)).violations);
    }
    expect(found.filter(isOf(judge))).not.toEqual([]);
  },
  120_000,
);
