import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "#lib/logger.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import type { Databases } from "../ledger/databases.ts";
import type { LedgerLoad, LedgerMeasurement } from "../ledger/load.ts";
import { startHelper } from "../measure/processes.ts";
import type { Bench } from "../scenario.ts";

/** To fill a database takes statements that run for minutes. */
const patience = { connectMs: 10_000, answerMs: 1_800_000 };

export const complaints: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (fields, text) => console.error(text, fields),
};

/** Leaves no time to others: what is made before a measurement is not measured. */
export const hurried: Clock = { ...systemClock, after: (_, act) => systemClock.after(0, act) };

export async function openServer(url: string): Promise<PostgresqlStorage> {
  const storage = await openStorage(url, patience);
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  return storage;
}

/** A core's ledger under load. */
export interface Core {
  /** Absent `duration`: for as long as the options say, in milliseconds. */
  measure(load: LedgerLoad, duration?: number): Promise<LedgerMeasurement>;
  stop(): Promise<void>;
}

export async function startCore(
  url: string,
  databases: Databases,
  { directory, options }: Pick<Bench, "directory" | "options">,
): Promise<Core> {
  const own = join(directory, new URL(url).pathname.slice(1));
  mkdirSync(own);
  const helper = await startHelper("ledger/load.ts", [url, own, "500"]);
  return {
    async measure(load, duration = options.duration) {
      const measured = await helper.ask<LedgerMeasurement>({
        ...{ load, warmUp: 500, duration, processes: [...databases.processes] },
      });
      if (measured.errors.length > 0) {
        throw new Error(`requests failed: ${measured.errors.join("\n")}`);
      }
      return measured;
    },
    stop: () => helper.stop(),
  };
}
