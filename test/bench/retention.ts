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
/** How often the load is measured alone and then beside the retention, so that what drifts touches both alike. */
const turns = 8;
/** Milliseconds that the load may take meanwhile: what it may take at any time. */
const most = { acknowledged: 20, held: 1 };
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
    const job: LedgerJob = { load: { rate }, warmUp: 500, duration: options.duration, processes: databases.processes };
    const alone: LedgerMeasurement[] = [];
    const beside: LedgerMeasurement[] = [];
    await process.ask("retain");
    for (let turn = 0; turn < turns; turn++) {
      progress(`${store}: turn ${turn + 1} of ${turns}`);
      await process.ask("pause");
      alone.push(await process.ask<LedgerMeasurement>({ ...job }));
      await process.ask("retain");
      beside.push(await process.ask<LedgerMeasurement>({ ...job }));
    }
    let retained = await process.ask<Retained>("retained");
    const done = ({ archived, removed }: Retained) => archived + removed;
    for (let before = -1; done(retained) > before && retained.removed < receipts; ) {
      progress(`${store}: ${retained.archived} archived, ${retained.removed} removed`);
      before = done(retained);
      await sleep(20_000);
      retained = await process.ask<Retained>("retained");
    }
    const errors = [...alone, ...beside].flatMap((measured) => measured.errors);
    if (retained.removed !== receipts || errors.length > 0) {
      throw new Error(`${store}: ${retained.removed} were removed; ${errors.join("; ")}`);
    }
    const figure = (
      name: string,
      unit: string,
      values: readonly number[],
      more: Pick<Figure, "better" | "limit"> = { better: "lower" },
    ): Figure => ({
      ...{ scenario: "retention", name: `${store}: ${name}`, unit, ...more },
      value: spread(values),
    });
    const each = (measured: readonly LedgerMeasurement[], of: (one: LedgerMeasurement) => number) => measured.map(of);
    return [
      figure(
        "acknowledged alone, p99",
        "ms",
        each(alone, ({ acknowledgement }) => acknowledgement.p99),
      ),
      figure(
        "acknowledged meanwhile, p99",
        "ms",
        each(beside, ({ acknowledgement }) => acknowledgement.p99),
        { better: "lower", limit: most.acknowledged },
      ),
      figure(
        "held alone, p99",
        "ms",
        each(alone, ({ hold }) => hold.p99),
      ),
      figure(
        "held meanwhile, p99",
        "ms",
        each(beside, ({ hold }) => hold.p99),
        { better: "lower", limit: most.held },
      ),
      figure("a step, p50", "ms", [retained.step.p50]),
      figure("a step, p99", "ms", [retained.step.p99]),
      figure("removed", "1/s", [(retained.removed / retained.duration) * 1000], { better: "higher" }),
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
