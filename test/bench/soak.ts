import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startHelper } from "./measure/processes.ts";
import { short } from "./report/table.ts";
import type { Bench, Findings, Scenario } from "./scenario.ts";
import { figuresOf, plotsOf, single, unfinishedOf, type Watched } from "./soak/findings.ts";
import type { LoadReport, Order } from "./soak/load.ts";
import { goneModel } from "./soak/mix.ts";
import { startOperator } from "./soak/operator.ts";
import { grievances } from "./soak/output.ts";
import { type Reading, read } from "./soak/readings.ts";
import type { Inside, System } from "./systems/interface.ts";

/** Minutes, unless a run says otherwise. */
const usualMinutes = 30;
const perSecond = 25;
const readEveryMs = 5000;
const booksEveryMs = 30_000;
/** The part of the time during which memory may find its level. */
const warmUp = 1 / 6;

/** A server that does not exist: nobody listens on port 1. */
const gone = { id: goneModel, context_length: 8192, servers: [{ url: "http://127.0.0.1:1", engine: "vllm" }] };

/** What one system showed. */
interface Soaked {
  readonly watched: readonly Watched[];
  readonly wrong: number;
  readonly complaints: readonly string[];
  readonly brokenBooks: readonly string[];
  readonly grievances: ReadonlyMap<string, number>;
}

/** Moderate mixed load for a long time: does memory stay level, do the books add up, does nothing go wrong? */
export const soak: Scenario = {
  name: "soak",
  shows: "memory, handles and books under mixed load for --minutes",
  onlyNamed: true,
  async run(bench): Promise<Findings> {
    const systems = bench.systems(["tollgate", "tollgate-scaled-out"]).filter(({ name }) => name !== "pass-through");
    // Side by side: time is what a soak takes.
    const soaked = await Promise.all(systems.map((system) => soakOne(system, bench)));
    const watched = soaked.flatMap((one) => one.watched);
    const figures = soaked.flatMap((one, at) => {
      const name = (what: string) => `${systems[at]?.name}: ${what}`;
      for (const text of [...one.complaints, ...one.brokenBooks]) {
        bench.progress(name(text));
      }
      for (const [text, times] of one.grievances) {
        bench.progress(name(`${times} × ${text}`));
      }
      return [
        single(name("answers that were not as they must be"), one.wrong, 0),
        single(name("proofs of the books that failed"), one.brokenBooks.length, 0),
        single(name("errors, warnings and rejections in the output"), one.grievances.size, 0),
        ...one.watched.flatMap((part) => figuresOf(part, (bench.options.minutes ?? usualMinutes) * 60 * warmUp)),
      ];
    });
    return { figures, plots: plotsOf(watched) };
  },
};

async function soakOne(system: System, bench: Bench): Promise<Soaked> {
  const directory = join(bench.directory, system.name);
  mkdirSync(directory);
  const engine = await startHelper("load/engine.ts");
  const load = await startHelper("soak/load.ts");
  const running = await system.start({ enginePort: engine.port, directory, models: [gone] });
  try {
    const { inside, host, ports } = running;
    if (inside === undefined) {
      throw new Error(`${system.name} cannot be looked into`);
    }
    const fronts = ports.map((port) => `http://${host}:${port}`);
    return await watch(system.name, inside, fronts, (order) => load.ask<LoadReport>(order), bench);
  } finally {
    await running.stop();
    await load.stop();
    await engine.stop();
  }
}

async function watch(
  system: string,
  inside: Inside,
  fronts: readonly string[],
  tell: (order: Order) => Promise<LoadReport>,
  { options, progress }: Bench,
): Promise<Soaked> {
  const operator = await startOperator(inside);
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const readAll = () => Promise.all(inside.parts.map((part) => read(part, seconds())));
  const before = await readAll();
  const readings: Reading[][] = [];
  const complaints: string[] = [];
  const brokenBooks: string[] = [];
  let wrong = 0;
  const note = (report: LoadReport) => {
    wrong += report.wrong;
    complaints.push(...report.complaints.slice(0, Math.max(0, 20 - complaints.length)));
  };
  const prove = async () => {
    const wrong = await operator.reconcile();
    if (wrong.length > 0) {
      brokenBooks.push(wrong.join("; "));
    }
  };

  note(await tell({ fronts, keys: operator.keys, perSecond }));
  for (let turn = 1; seconds() < (options.minutes ?? usualMinutes) * 60; turn++) {
    await sleep(Math.max(0, turn * readEveryMs - seconds() * 1000));
    await operator.work();
    readings.push(await readAll());
    const report = await tell("report");
    note(report);
    if (turn % (booksEveryMs / readEveryMs) === 0) {
      await prove();
      progress(progressLine(system, inside, readings.at(-1) ?? [], report));
    }
  }
  note(await tell("stop"));
  const after = await idle(readAll);
  await prove();
  const said = await Promise.all(inside.parts.map(({ log }) => grievances(log)));
  return {
    watched: inside.parts.map(({ name }, at) => ({
      system,
      part: name,
      readings: readings.map((all) => all[at] as Reading),
      before: before[at] as Reading,
      after: after[at] as Reading,
    })),
    wrong,
    complaints,
    brokenBooks,
    grievances: new Map(said.flatMap((of) => [...of])),
  };
}

/** Reads until nothing is unfinished any more, at most for ten seconds. */
async function idle(readAll: () => Promise<Reading[]>): Promise<Reading[]> {
  const isIdle = (readings: readonly Reading[]) => readings.every((reading) => unfinishedOf(reading) === 0);
  let readings = await readAll();
  for (let again = 0; again < 20 && !isIdle(readings); again++) {
    await sleep(500);
    readings = await readAll();
  }
  return readings;
}

function progressLine(system: string, { parts }: Inside, readings: readonly Reading[], report: LoadReport): string {
  const memory = parts.map(({ name }, at) => {
    const { resident = 0, oldHeap = 0, handles = 0 } = readings[at] ?? {};
    return `${name} ${short(resident / 2 ** 20)} MiB (old heap ${short(oldHeap / 2 ** 20)}), ${handles} handles`;
  });
  const { p50, p99 } = report.plain;
  const minutes = short((readings[0]?.at ?? 0) / 60);
  return `${minutes} min ${system}: ${memory.join("; ")}; ${report.underWay} under way, plain p50 ${short(p50)} p99 ${short(p99)} ms, ${report.wrong} wrong`;
}
