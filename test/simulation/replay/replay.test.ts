import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openStorage } from "../../../src/storage/orm.ts";
import { databases } from "../../metering/databases.ts";
import { lotStatements } from "../database/lots.ts";
import { SimulatedServer } from "../database/server.ts";
import type { Meaning } from "../database/statement.ts";
import { simulate } from "../simulate.ts";
import { compareTables, replay } from "./postgresql.ts";
import type { Recorded } from "./recording.ts";

const newDatabase = databases();
/** Without crowds, which go by no statement of the product, and without losses: a real database is not taken back between two statements. */
const small = {
  requests: 100,
  trafficMs: 20,
  faultsMs: 300,
  isNight: false,
  without: ["failover", "old backup", "many lots", "many price lists"],
};

let server: SimulatedServer;
beforeAll(async () => {
  server = await SimulatedServer.open();
}, 60_000);
afterAll(() => server.close());

async function replayWorld(seed: number, instead: Readonly<Record<string, Meaning>> = {}) {
  const recorded = await server.record(async (soFar) => {
    await simulate(seed, server, { ...small, instead });
    breakConstraint(soFar);
  });
  const storage = await openStorage(await newDatabase("postgresql"));
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  try {
    const statements = await replay(recorded, storage.pool);
    const tables = await compareTables((sql) => server.tables.all<object>(sql), storage.pool);
    return {
      statements,
      tables,
      names: new Set(recorded.map((step) => ("name" in step ? step.name : step.kind))),
    };
  } finally {
    await storage.close();
  }
}

/** Lends less than nothing of a budget. */
function breakConstraint(recorded: readonly Recorded[]): void {
  const lent = recorded.findLast((step) => step.kind === "statement" && step.name === "lend budget");
  if (lent?.kind !== "statement") {
    throw new Error("no budget was lent in this world");
  }
  const [budget, window] = lent.values;
  expect(() => server.execute(lent.name, lent.text, [budget, window, -1e15])).toThrow(/constraint/);
}

test("a real PostgreSQL answers the statements of a world as the simulated one did", async () => {
  const { statements, tables, names } = await replayWorld(2);
  expect(statements).toEqual([]);
  expect(tables).toEqual([]);
  expect(names.size).toBeGreaterThan(20);
});

test("a simulated server that leases otherwise than PostgreSQL is found out", async () => {
  const lease: Meaning = (tables, values) =>
    (lotStatements.lease as Meaning)(tables, values.with(5, Number(values[5]) + 1)); // as if there were one more core
  const { statements } = await replayWorld(2, { lease });
  expect(statements[0]).toMatch(/"lease"/);
});
