import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { SimulatedServer } from "../database/server.ts";
import { type Settings, simulate } from "../simulate.ts";
import { compareTables, replay } from "./postgresql.ts";
import type { Recorded } from "./recording.ts";

/**
 * Worlds without bulk actions, which use no statement of the product, and without losses: a real database cannot go
 * back between two statements.
 */
export const replayable = { without: ["failover", "old backup", "many lots", "many price lists"] };

/** The result of repeating a world. */
interface Replayed {
  /** The world's own violations. */
  readonly violations: readonly string[];
  /** Where PostgreSQL answered differently, or has other rows at the end; in words. */
  readonly differences: readonly string[];
  /** The statements, by name. */
  readonly names: ReadonlySet<string>;
}

/** Lives a world, and repeats its statements in an empty PostgreSQL database. `also` runs at the world's end. */
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
