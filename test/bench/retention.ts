import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openStorage, type Storage } from "../../src/storage/orm.ts";
import { openDatabases, type Store, stores } from "./ledger/databases.ts";
import type { LedgerJob, LedgerMeasurement } from "./ledger/load.ts";
import type { Retained } from "./ledger/retain.ts";
import { startHelper } from "./measure/processes.ts";
import { spread } from "./report/statistics.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";

const dayMs = 86_400_000;
const days = 30;
const firstDay = Math.floor(Date.now() / dayMs) - 250;
const accounts = 500;
/** Requests a second meanwhile. */
const rate = 300;
const patience = { connectMs: 10_000, answerMs: 600_000 };

/** A month of receipts leaves beside a load. */
export const retention: Scenario = {
  name: "retention",
  shows: "settlements while a month of receipts is archived and removed, and how long its steps are, on both stores",
  onlyNamed: true,
  async run(bench) {
    const figures: Figure[] = [];
    for (const store of stores) {
      figures.push(...(await measure(store, bench)));
    }
    return { figures };
  },
};

async function measure(store: Store, { directory, options, progress }: Bench): Promise<Figure[]> {
  const receipts = options.quick ? 10_000 : 100_000;
  const databases = await openDatabases(store, directory);
  const own = join(directory, `retention-${store}`);
  mkdirSync(own);
  const url = await databases.create("retention");
  progress(`${store}: filling a month with ${receipts} receipts`);
  const storage = await openStorage(url, patience);
  await fill(storage, receipts);
  await storage.close();
  const process = await startHelper("ledger/load.ts", [url, own, String(accounts)]);
  try {
    const job: LedgerJob = { load: { rate }, warmUp: 2000, duration: options.duration, processes: databases.processes };
    const alone = await process.ask<LedgerMeasurement>({ ...job });
    await process.ask("retain");
    const beside = await process.ask<LedgerMeasurement>({ ...job });
    let retained = await process.ask<Retained>("retained");
    for (let removed = -1; retained.removed > removed && retained.removed < receipts; ) {
      progress(`${store}: ${retained.archived} archived, ${retained.removed} removed`);
      removed = retained.removed;
      await sleep(20_000);
      retained = await process.ask<Retained>("retained");
    }
    if (retained.removed !== receipts || alone.errors.length + beside.errors.length > 0) {
      throw new Error(`${store}: ${retained.removed} were removed; ${[...alone.errors, ...beside.errors].join("; ")}`);
    }
    const figure = (name: string, unit: string, value: number, better: "lower" | "higher" = "lower"): Figure => ({
      ...{ scenario: "retention", name: `${store}: ${name}`, unit, better },
      value: spread([value]),
    });
    return [
      figure("acknowledged alone, p99", "ms", alone.acknowledgement.p99),
      figure("acknowledged meanwhile, p99", "ms", beside.acknowledgement.p99),
      figure("held meanwhile, p99", "ms", beside.hold.p99),
      figure("a step, p50", "ms", retained.step.p50),
      figure("a step, p99", "ms", retained.step.p99),
      figure("removed", "1/s", (retained.removed / retained.duration) * 1000, "higher"),
    ];
  } finally {
    await process.stop();
    await databases.stop();
  }
}

/** Receipts of a month, with a line each and sums of their days, as old charges have them. */
async function fill(storage: Storage, receipts: number): Promise<void> {
  const em = storage.orm.em.fork();
  const isFile = storage.dialect === "sqlite";
  const nobody = isFile ? "'00000000-0000-7000-8000-000000000001'" : "'00000000-0000-7000-8000-000000000001'::uuid";
  const ms = `${firstDay * dayMs}.0 + n * ${((days * dayMs) / receipts).toFixed(3)}`;
  const settledAt = isFile ? ms : `to_timestamp((${ms}) / 1000.0)`;
  const numbers = `with recursive r(n) as (select 0 union all select n + 1 from r where n < ${receipts - 1})`;
  await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
      shortfall, status, settled_at)
    ${numbers} select 'r' || n, ${nobody}, ${nobody}, '', 'm', 10, 10, 1000, 0, 'completed', ${settledAt} from r`);
  await em.execute(`insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate,
      output_rate, cost)
    ${numbers} select 'r' || n, ${nobody}, 0, ${nobody}, ${nobody}, 10, 10, 50, 50, 1000 from r`);
  await em.execute("analyze");
}
