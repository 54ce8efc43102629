import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { pause } from "../../support/pause.ts";
import { SimulatedServer } from "../database/server.ts";
import { replayWorld } from "./replay-world.ts";

/** A repeated world is a short one: the ORM's changes are copied row by row. */
const small = { requests: 400, trafficMs: 20, faultsMs: 300 };
/** Milliseconds between two repeated worlds. */
const restMs = 30_000;

/** The result of a run's repetitions on a real PostgreSQL. */
export interface Sample {
  readonly replays: number;
  readonly differences: number;
}

/**
 * Lives short versions of a run's worlds again, and repeats their statements on a real PostgreSQL: at least one world,
 * and further ones from time to time until the run ends. Reports the differences.
 */
export async function sampleReplays(
  nextSeed: () => number,
  hasEnded: () => boolean,
  tell: (found: object) => void,
): Promise<Sample> {
  let real: PostgresqlServer;
  try {
    real = await startPostgresql();
  } catch (error) {
    tell({ replays: 0, error: `no PostgreSQL could be started, so nothing is done again on it: ${error}` });
    return { replays: 0, differences: 0 };
  }
  const server = await SimulatedServer.open();
  let sample: Sample = { replays: 0, differences: 0 };
  try {
    const schema = await real.createDatabase();
    await (await openStorage(schema)).close();
    do {
      const seed = nextSeed();
      const empty = await real.createDatabase(new URL(schema).pathname.slice(1));
      const { violations, differences } = await replayWorld(seed, server, empty, small);
      if (violations.length + differences.length > 0) {
        tell({ seed, violations, differences });
      }
      sample = {
        replays: sample.replays + 1,
        differences: sample.differences + violations.length + differences.length,
      };
      for (let waited = 0; waited < restMs && !hasEnded(); waited += 1000) {
        await pause(1000, "most of the machine is for the run's own worlds");
      }
    } while (!hasEnded());
  } finally {
    await server.close();
    await real.stop();
  }
  return sample;
}
