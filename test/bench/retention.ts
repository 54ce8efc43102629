import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { openDatabases, type Store, stores } from "./ledger/databases.ts";
import type { LedgerJob, LedgerMeasurement } from "./ledger/load.ts";
import { fillMonth } from "./ledger/month.ts";
import type { Retained } from "./ledger/retain.ts";
import { startHelper } from "./measure/processes.ts";
import { takeUndisturbed } from "./measure/undisturbed.ts";
import { spread } from "./report/statistics.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";

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
  await fillMonth(storage, receipts);
  await storage.close();
  const process = await startHelper("ledger/load.ts", [url, own, String(accounts), "keys"]);
  const prove = async () => {
    const { ok, findings } = await process.ask<{ ok: boolean; findings: unknown[] }>("prove");
    if (!ok) {
      throw new Error(`${store}: the books do not add up: ${JSON.stringify(findings.slice(0, 3))}`);
    }
  };
  try {
    const { duration, retakes } = options;
    const job: LedgerJob = {
      ...{ load: { rate }, warmUp: 500, duration, processes: databases.processes, watched: true },
    };
    const take = () =>
      takeUndisturbed(
        () => process.ask<LedgerMeasurement>({ ...job }),
        ({ disturbance }) => disturbance,
        { retakes, progress },
      );
    await prove();
    const alone: LedgerMeasurement[] = [];
    const beside: LedgerMeasurement[] = [];
    await process.ask("retain");
    for (let turn = 0; turn < turns; turn++) {
      progress(`${store}: turn ${turn + 1} of ${turns}`);
      await process.ask("pause");
      alone.push(await take());
      await process.ask("retain");
      beside.push(await take());
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
    await prove();
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
    const turnsOf = (what: string, measured: readonly LedgerMeasurement[]) => [
      figure(
        `a turn of the event loop ${what}, p99 of CPU`,
        "ms",
        each(measured, ({ stalls }) => stalls?.p99 ?? Number.NaN),
      ),
      figure(
        `the longest turn of the event loop ${what}, CPU`,
        "ms",
        each(measured, ({ stalls }) => stalls?.max ?? Number.NaN),
      ),
      figure(
        `collections of garbage in the longest turn ${what}`,
        "ms",
        each(measured, ({ stalls }) => stalls?.longest.collecting ?? Number.NaN),
      ),
    ];
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
      ),
      figure(
        "held alone, without waits for a processor, p99",
        "ms",
        each(alone, ({ holdServed }) => holdServed.p99),
      ),
      figure(
        "held meanwhile, without waits for a processor, p99",
        "ms",
        each(beside, ({ holdServed }) => holdServed.p99),
        { better: "lower", limit: most.held },
      ),
      figure(
        "holds that waited for the store, meanwhile",
        "",
        each(beside, ({ waited }) => waited),
        { better: "lower", limit: 0 },
      ),
      ...turnsOf("alone", alone),
      ...turnsOf("meanwhile", beside),
      figure("a step, p50", "ms", [retained.step.p50]),
      figure("a step, p99", "ms", [retained.step.p99]),
      figure("removed", "1/s", [(retained.removed / retained.duration) * 1000], { better: "higher" }),
    ];
  } finally {
    await process.stop();
    await databases.stop();
  }
}
