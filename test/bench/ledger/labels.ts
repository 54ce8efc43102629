import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "#lib/ids/random.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { startHelper } from "../measure/processes.ts";
import { spread } from "../report/statistics.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import { openDatabases, type Store, stores } from "./databases.ts";
import { fullSizes, usualAccounts } from "./figures.ts";
import type { LedgerMeasurement } from "./load.ts";

/** What three labels are like: a program among 20, a team among 50, a person among 1,000. */
export function someLabels(): string {
  const one = (of: number) => Math.floor(systemRandom.fraction() * of);
  return JSON.stringify({
    app: `program-${one(20)}`,
    team: `team-${one(50)}`,
    user: `person-${one(1000)}@example.com`,
  });
}

/** Charges with three labels each, beside charges without, on both stores. */
export const labels: Scenario = {
  name: "labels",
  shows: "what three attribution labels add to a receipt, in CPU and bytes, on both stores",
  onlyNamed: true,
  async run(bench) {
    const figures: Figure[] = [];
    for (const store of stores) {
      const without = await measure(store, "without", bench);
      const withThree = await measure(store, "labels", bench);
      for (const [name, unit, of] of [
        ["CPU", "µs a receipt", ({ cpu }: Turn) => cpu],
        ["bytes of the database", "B a receipt", ({ bytes }: Turn) => bytes],
      ] as const) {
        const figure = (what: string, turns: readonly Turn[]): Figure => ({
          ...{ scenario: "labels", name: `${store}, ${what}: ${name}`, unit, value: spread(turns.map(of)) },
          better: "lower",
        });
        figures.push(figure("no label", without), figure("three labels", withThree));
      }
    }
    return { figures };
  },
};

interface Turn {
  /** Microseconds of the core and the database server. */
  readonly cpu: number;
  readonly bytes: number;
}

async function measure(store: Store, kind: "without" | "labels", bench: Bench): Promise<Turn[]> {
  const { options, directory, progress } = bench;
  const databases = await openDatabases(store, directory);
  const turns: Turn[] = [];
  try {
    for (let round = 0; round < options.rounds; round++) {
      progress(`${store}, ${kind}, round ${round + 1}`);
      const own = join(directory, `${store}-${kind}-${round}`);
      mkdirSync(own);
      const url = await databases.create(`${kind}_${round}`);
      const before = await sizeOf(url);
      const core = await startHelper("ledger/load.ts", [url, own, String(usualAccounts), kind]);
      const { processes } = databases;
      const job = { load: { atOnce: fullSizes }, warmUp: 500, duration: options.duration, processes };
      const measured = await core.ask<LedgerMeasurement>({ ...job });
      await core.stop();
      const { mainCpu, otherCpu, databaseCpu, settled } = measured;
      const after = await sizeOf(url);
      turns.push({
        cpu: (mainCpu + otherCpu + databaseCpu) / settled,
        bytes: (after.bytes - before.bytes) / after.receipts,
      });
    }
  } finally {
    await databases.stop();
  }
  return turns;
}

/** The size of a database with its schema, once its dead rows are gone. */
async function sizeOf(url: string): Promise<{ readonly bytes: number; readonly receipts: number }> {
  const storage = await openStorage(url);
  try {
    const ask = async (sql: string) => {
      const [row] = await storage.orm.em.getConnection().execute<{ n: string | number }[]>(sql);
      return Number(row?.n);
    };
    await storage.orm.em.getConnection().execute(storage.dialect === "postgresql" ? "vacuum full" : "vacuum");
    const bytes =
      storage.dialect === "postgresql"
        ? await ask("select pg_database_size(current_database()) as n")
        : await ask("select page_count * page_size as n from pragma_page_count(), pragma_page_size()");
    return { bytes, receipts: await ask("select count(*) as n from usage") };
  } finally {
    await storage.close();
  }
}
