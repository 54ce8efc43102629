import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Helper, startHelper } from "../measure/processes.ts";
import { takeUndisturbed } from "../measure/undisturbed.ts";
import { spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { fullSizes, perSecond, usualAccounts } from "./figures.ts";
import type { LedgerJob, LedgerMeasurement } from "./load.ts";

const warmUpCharges = 1500;
const counts = [1, 2] as const;

/** A core on so many servers. */
interface SetUp {
  readonly count: number;
  readonly core: Helper;
  readonly processes: readonly number[];
  readonly turns: LedgerMeasurement[];
}

/**
 * What one core settles with its accounts on one PostgreSQL and on two, each with a server of its own. All of them share this
 * machine's processors, so that the rate cannot show what a second server adds on a machine of its own: the CPU time that a
 * settlement takes of each part does. A processor of a server that takes 25 µs settles 40,000 a second at most, and two servers
 * twice as many as long as that of each settlement stays the same. Both are measured in turn, so that whatever else the machine does
 * is in both.
 */
export const shards: Scenario = {
  name: "shards",
  shows: "settlements a second of one core on one PostgreSQL and on two, and what each part's processor could settle",
  async run(bench) {
    const servers: Databases[] = [];
    const setUps: SetUp[] = [];
    try {
      for (const _ of counts) {
        servers.push(await openDatabases("PostgreSQL", bench.directory));
      }
      for (const count of counts) {
        setUps.push(await open(count, servers.slice(0, count), bench));
      }
      for (let round = 0; round < bench.options.rounds; round++) {
        for (const setUp of setUps) {
          await takeTurn(setUp, bench);
        }
      }
      for (const { core } of setUps) {
        const { ok, findings } = await core.ask<{ ok: boolean; findings: unknown[] }>("prove");
        if (!ok) {
          throw new Error(`the books do not add up: ${JSON.stringify(findings.slice(0, 3))}`);
        }
      }
      return { figures: setUps.flatMap(toFigures) };
    } finally {
      await Promise.all(setUps.map(({ core }) => core.stop()));
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

async function open(count: number, servers: readonly Databases[], { directory }: Bench): Promise<SetUp> {
  const own = join(directory, `shards-${count}`);
  mkdirSync(own);
  const urls = await Promise.all(servers.map((server, index) => server.create(`shards_${count}_${index}`)));
  const core = await startHelper("ledger/load.ts", [urls.join(" "), own, String(usualAccounts / count)]);
  return { count, core, processes: servers.flatMap((server) => server.processes), turns: [] };
}

async function takeTurn({ count, core, processes, turns }: SetUp, { options, progress }: Bench): Promise<void> {
  const load = { atOnce: fullSizes };
  const job: LedgerJob = { load, warmUp: warmUpCharges, duration: options.duration, processes };
  const turn = await takeUndisturbed(
    () => core.ask<LedgerMeasurement>({ ...job }),
    ({ disturbance }) => disturbance,
    { retakes: options.retakes, progress },
  );
  if (turn.errors.length > 0) {
    throw new Error(`requests failed:\n${turn.errors.join("\n")}`);
  }
  progress(`${name(count)}: ${short(perSecond(turn))}/s`);
  turns.push(turn);
}

const name = (count: number) => (count === 1 ? "one PostgreSQL" : `${count} PostgreSQL`);

/** Settlements a second of a processor that does nothing else, from the microseconds of each. */
const perProcessor = (cpu: number, { settled }: LedgerMeasurement) => (settled / cpu) * 1e6;

function toFigures({ count, turns }: SetUp): Figure[] {
  const figure = (aspect: string, unit: string, of: (turn: LedgerMeasurement) => number): Figure => ({
    ...{ scenario: "shards", name: `${name(count)}: ${aspect}`, unit, value: spread(turns.map(of)) },
    better: unit === "µs a request" || unit === "ms" || aspect === "round trips" ? "lower" : "higher",
  });
  return [
    figure("settled, all parts on this machine", "/s", perSecond),
    figure("acknowledgement p99", "ms", ({ acknowledgement }) => acknowledgement.p99),
    figure("settlements a commit", "", ({ settled, commits }) => settled / commits),
    figure("round trips", "a request", ({ roundTrips, settled }) => roundTrips / settled),
    figure("CPU of the event loop", "µs a request", ({ mainCpu, settled }) => mainCpu / settled),
    figure("CPU of the core's other threads", "µs a request", ({ otherCpu, settled }) => otherCpu / settled),
    figure("CPU of the database servers", "µs a request", ({ databaseCpu, settled }) => databaseCpu / settled),
    figure("an event loop with a processor of its own", "/s", (turn) => perProcessor(turn.mainCpu, turn)),
    figure("servers with a processor of their own each", "/s", (turn) => count * perProcessor(turn.databaseCpu, turn)),
  ];
}
