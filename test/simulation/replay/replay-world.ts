import { openStorage } from "../../../src/storage/orm.ts";
import type { SimulatedServer } from "../database/server.ts";
import { type Settings, simulate } from "../simulate.ts";
import { compareTables, replay } from "./postgresql.ts";
import type { Recorded } from "./recording.ts";

/** Worlds without crowds, which go by no statement of the product, and without losses: a real database is not taken back between two statements. */
export const replayable = { without: ["failover", "old backup", "many lots", "many price lists"] };

/** What became of a world that was done again. */
interface Replayed {
  /** The world's own. */
  readonly violations: readonly string[];
  /** Where PostgreSQL answered otherwise, or has other rows in the end; in words. */
  readonly differences: readonly string[];
  /** The statements, by name. */
  readonly names: ReadonlySet<string>;
}

/** Lives a world, and does its statements again in an empty PostgreSQL database. `also` runs at the world's end. */
export async function replayWorld(
  seed: number,
  server: SimulatedServer,
  emptyDatabase: string,
  settings: Settings = {},
  also: (recorded: readonly Recorded[]) => void = () => {},
): Promise<Replayed> {
  let violations: readonly string[] = [];
  const recorded = await server.record(async (soFar) => {
    ({ violations } = await simulate(seed, server, { ...settings, ...replayable }));
    also(soFar);
  });
  const storage = await openStorage(emptyDatabase);
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  try {
    const statements = await replay(recorded, storage.pool);
    const tables = await compareTables((sql) => server.tables.all<object>(sql), storage.pool);
    const names = recorded.map((step) => ("name" in step ? step.name : step.kind));
    return { violations, differences: [...statements, ...tables], names: new Set(names) };
  } finally {
    await storage.close();
  }
}
