import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { openStorage } from "../../../src/storage/orm.ts";
import { pause } from "../../support/pause.ts";
import { SimulatedServer } from "../database/server.ts";
import { replayWorld } from "./replay-world.ts";

/** A world that is done again is a short one: what the ORM writes is copied row by row. */
const small = { requests: 400, trafficMs: 20, faultsMs: 300 };
/** From one to the next. */
const restMs = 30_000;

/** What a run did again on a real PostgreSQL. */
export interface Sample {
  readonly replays: number;
  readonly differences: number;
}

/**
 * Lives worlds of a run's seeds once more, short, and does their statements again on a real PostgreSQL, one world now and then
 * until the run ends, and one at least. Tells what differs.
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
