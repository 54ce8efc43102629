import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startHelper } from "../measure/processes.ts";
import { takeUndisturbed } from "../measure/undisturbed.ts";
import { short } from "../report/table.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { type Databases, openDatabases, type Store, stores } from "./databases.ts";
import { figuresOf, fullSizes, type LedgerRun, plotsOf, rates, runName, usualAccounts } from "./figures.ts";
import type { LedgerJob, LedgerLoad, LedgerMeasurement } from "./load.ts";

const warmUpCharges = 1500;

/** Holds and settlements of one core, without the HTTP around them, on both stores. */
export const ledger: Scenario = {
  name: "ledger",
  shows: "settlements a second on both stores, times to hold and to acknowledge, CPU, round trips",
  async run(bench) {
    const runs: LedgerRun[] = [];
    for (const store of stores) {
      bench.progress(`starting ${store}`);
      const databases = await openDatabases(store, bench.directory);
      try {
        for (const accounts of bench.options.quick ? [usualAccounts] : [1, 10, usualAccounts, 10_000]) {
          runs.push(...(await measureAccounts(store, accounts, databases, bench)));
        }
      } finally {
        await databases.stop();
      }
    }
    return { figures: figuresOf(runs), plots: plotsOf(runs) };
  },
};

/** All loads on a ledger with so many accounts, which has a database and a process of its own. */
async function measureAccounts(
  store: Store,
  accounts: number,
  databases: Databases,
  { options, directory, progress }: Bench,
): Promise<LedgerRun[]> {
  const own = join(directory, `${store}-${accounts}`);
  mkdirSync(own);
  const url = await databases.create(`ledger_${accounts}`);
  const process = await startHelper("ledger/load.ts", [url, own, String(accounts)]);
  try {
    const runs: LedgerRun[] = [];
    for (const load of loadsOf(store, accounts)) {
      const job: LedgerJob = {
        load,
        warmUp: warmUpCharges,
        duration: options.duration,
        processes: databases.processes,
      };
      const name = runName({ store, accounts, load });
      const turns: LedgerMeasurement[] = [];
      for (let round = 0; round < options.rounds; round++) {
        const turn = await takeUndisturbed(
          () => ask(job, name),
          ({ disturbance }) => disturbance,
          { retakes: options.retakes, progress },
        );
        progress(`${name}: ${short((turn.settled / turn.duration) * 1000)}/s`);
        turns.push(turn);
      }
      runs.push({ store, accounts, load, turns });
    }
    const { ok, findings } = await process.ask<{ ok: boolean; findings: unknown[] }>("prove");
    if (!ok) {
      throw new Error(`${store}: the books do not add up: ${JSON.stringify(findings.slice(0, 3))}`);
    }
    return runs;
  } finally {
    await process.stop();
  }

  /** Throws when a request failed: such a load proves nothing. */
  async function ask(job: LedgerJob, name: string): Promise<LedgerMeasurement> {
    const measured = await process.ask<LedgerMeasurement>({ ...job });
    if (measured.errors.length > 0) {
      throw new Error(`${name}: requests failed:\n${measured.errors.join("\n")}`);
    }
    if ("rate" in job.load && measured.refused > 0) {
      throw new Error(`${name}: ${measured.refused} requests were refused: the store does not take so many`);
    }
    return measured;
  }
}

/** The rate that the store must take, more than it can take, and with the usual accounts what lies between. */
function loadsOf(store: Store, accounts: number): LedgerLoad[] {
  const between = accounts === usualAccounts ? [{ atOnce: 1 }, { atOnce: 16 }] : [];
  return [{ rate: rates[store] }, ...between, { atOnce: fullSizes }];
}
