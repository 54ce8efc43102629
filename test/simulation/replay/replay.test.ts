import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { databases } from "../../money/databases.ts";
import { lotStatements } from "../database/lots.ts";
import { SimulatedServer } from "../database/server.ts";
import type { Meaning } from "../database/statement.ts";
import type { Recorded } from "./recording.ts";
import { replayWorld } from "./replay-world.ts";

const newDatabase = databases();
const small = { requests: 100, trafficMs: 20, faultsMs: 300 };

let server: SimulatedServer;
beforeAll(async () => {
  server = await SimulatedServer.open();
}, 60_000);
afterAll(() => server.close());

/** Lends a negative amount of a budget. */
function breakConstraint(recorded: readonly Recorded[]): void {
  const lent = recorded.findLast((step) => step.kind === "statement" && step.name === "lend budget");
  if (lent?.kind !== "statement") {
    throw new Error("no budget was lent in this world");
  }
  const [budget, window] = lent.values;
  expect(() => server.execute(lent.name, lent.text, [budget, window, -1e15])).toThrow(/constraint/);
}

test.each([
  ["", 2, false],
  [" that nobody has seen before", Math.floor(Math.random() * 2 ** 31), undefined],
  [" in which receipts leave the books", 3, true],
])(
  "a real PostgreSQL answers the statements of a world%s, %i, as the simulated one did",
  async (_, seed, isNight) => {
    const settings = isNight === undefined ? small : { ...small, isNight };
    const { differences, names } = await replayWorld(
      seed,
      server,
      await newDatabase("postgresql"),
      settings,
      isNight === false ? breakConstraint : undefined,
    );
    expect(differences).toEqual([]);
    expect(names.size).toBeGreaterThan(20);
  },
  120_000,
);

test("a simulated server that leases otherwise than PostgreSQL is found out", async () => {
  const lease: Meaning = (tables, values) =>
    (lotStatements.lease as Meaning)(tables, values.with(5, Number(values[5]) + 1)); // as if there were one more core
  const settings = { ...small, isNight: false, instead: { lease } };
  const { differences } = await replayWorld(2, server, await newDatabase("postgresql"), settings);
  expect(differences[0]).toMatch(/"lease"/);
}, 120_000);
