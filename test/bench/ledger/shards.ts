import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startHelper } from "../measure/processes.ts";
import { takeUndisturbed } from "../measure/undisturbed.ts";
import { spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { fullSizes, perSecond, usualAccounts } from "./figures.ts";
import type { LedgerJob, LedgerMeasurement } from "./load.ts";

const warmUpCharges = 1500;

/**
 * What one core settles with its accounts on one PostgreSQL and on two, each with a server of its own. Where the servers share
 * the core's machine, as here, they share its processors, too: the second one then takes away the wait for the disk alone.
 */
export const shards: Scenario = {
  name: "shards",
  shows: "settlements a second of one core with its accounts on one PostgreSQL and on two",
  async run(bench) {
    const figures: Figure[] = [];
    for (const count of [1, 2]) {
      const servers: Databases[] = [];
      try {
        for (let number = 0; number < count; number++) {
          servers.push(await openDatabases("PostgreSQL", bench.directory));
        }
        figures.push(...toFigures(count, await measureServers(servers, bench)));
      } finally {
        await Promise.all(servers.map((server) => server.stop()));
      }
    }
    return { figures };
  },
};

async function measureServers(
  servers: readonly Databases[],
  { options, directory, progress }: Bench,
): Promise<LedgerMeasurement[]> {
  const own = join(directory, `shards-${servers.length}`);
  mkdirSync(own);
  const urls = await Promise.all(servers.map((server, index) => server.create(`shards_${servers.length}_${index}`)));
  const core = await startHelper("ledger/load.ts", [urls.join(" "), own, String(usualAccounts / servers.length)]);
  try {
    const processes = servers.flatMap((server) => server.processes);
    const job: LedgerJob = {
      load: { atOnce: fullSizes },
      warmUp: warmUpCharges,
      duration: options.duration,
      processes,
    };
    const turns: LedgerMeasurement[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const turn = await takeUndisturbed(
        () => core.ask<LedgerMeasurement>({ ...job }),
        ({ disturbance }) => disturbance,
        { retakes: options.retakes, progress },
      );
      if (turn.errors.length > 0) {
        throw new Error(`requests failed:\n${turn.errors.join("\n")}`);
      }
      progress(`${name(servers.length)}: ${short(perSecond(turn))}/s`);
      turns.push(turn);
    }
    const { ok, findings } = await core.ask<{ ok: boolean; findings: unknown[] }>("prove");
    if (!ok) {
      throw new Error(`the books do not add up: ${JSON.stringify(findings.slice(0, 3))}`);
    }
    return turns;
  } finally {
    await core.stop();
  }
}

const name = (count: number) => (count === 1 ? "one PostgreSQL" : `${count} PostgreSQL`);

function toFigures(count: number, turns: readonly LedgerMeasurement[]): Figure[] {
  const figure = (aspect: string, unit: string, of: (turn: LedgerMeasurement) => number): Figure => ({
    ...{ scenario: "shards", name: `${name(count)}: ${aspect}`, unit, value: spread(turns.map(of)) },
    better: unit === "/s" ? "higher" : "lower",
  });
  return [
    figure("settled", "/s", perSecond),
    figure("acknowledgement p99", "ms", ({ acknowledgement }) => acknowledgement.p99),
    figure("CPU of the event loop", "µs a request", ({ mainCpu, settled }) => mainCpu / settled),
    figure("CPU of the database servers", "µs a request", ({ databaseCpu, settled }) => databaseCpu / settled),
  ];
}
