import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Measurement } from "./load/load.ts";
import { type Cell, cellName, cellRequest } from "./measure/cell.ts";
import { type Helper, startHelper } from "./measure/processes.ts";
import { takeUndisturbed } from "./measure/undisturbed.ts";
import { cpuOfUnit, type Result, summarise, type Turn } from "./report/summary.ts";
import { short } from "./report/table.ts";
import type { Bench } from "./scenario.ts";
import type { Running, System } from "./systems/interface.ts";

/** The yardstick, without which no ratio can be told. */
export const raw = "pass-through";

const rampUpMs = 500;

/** What a started scenario consists of. */
interface Stage {
  readonly systems: readonly { readonly system: System; readonly running: Running }[];
  readonly load: Helper;
  /** A second load generator, for the light load beside the other one. */
  readonly light: Helper;
  readonly duration: number;
}

/** Loads systems in turn, round for round, and puts together what was measured. */
export async function run(cells: readonly Cell[], of: readonly System[], bench: Bench): Promise<Result[]> {
  const stops: (() => Promise<void>)[] = [];
  const helper = async (file: string) => {
    const started = await startHelper(file);
    stops.push(started.stop);
    return started;
  };
  try {
    const engine = await helper("load/engine.ts");
    const systems: { system: System; running: Running }[] = [];
    for (const system of of) {
      bench.progress(`starting ${system.name}`);
      const directory = join(bench.directory, system.name);
      mkdirSync(directory, { recursive: true });
      const running = await attempt(system, bench, () => system.start({ enginePort: engine.port, directory }));
      if (running) {
        stops.push(running.stop);
        systems.push({ system, running });
      }
    }
    const { duration, rounds } = bench.options;
    const stage = { systems, load: await helper("load/load.ts"), light: await helper("load/load.ts"), duration };
    await warmUp(cells, stage, bench);
    const results: Result[] = [];
    for (const cell of cells) {
      results.push(...(await takeTurns(cell, stage, rounds, bench)));
    }
    return results;
  } finally {
    for (const stop of stops.reverse()) {
      await stop();
    }
  }
}

/** Requests of a kind after which the systems' code has been compiled, and the longest that is waited for them. */
const warmRequests = 30_000;
const warmTurns = 20;
/** Somebody else's may be slow, and is compiled before it runs or never. */
const foreignTurns = 6;

/** Every kind of request until the systems' code has been compiled; nothing is kept. */
async function warmUp(cells: readonly Cell[], stage: Stage, bench: Bench): Promise<void> {
  const kinds = new Map(cells.map((cell) => [`${cell.surface} ${cell.stream}`, cell]));
  const hot = [...kinds.values()].map((cell) => ({
    ...cell,
    concurrency: 16,
    size: Math.min(cell.size, 10),
    model: cell.stream ? "eager" : cell.model,
  }));
  for (const { system, running } of stage.systems) {
    const most = system.foreign ? foreignTurns : warmTurns;
    for (const cell of hot.filter(({ surface }) => running.paths[surface] !== undefined)) {
      let requests = 0;
      for (let turn = 0; turn < most && requests < warmRequests; turn++) {
        const measured = await attempt(system, bench, () => measure(cell, running, stage.load, 1500));
        if (!measured) {
          break;
        }
        requests += measured.requests;
      }
    }
  }
}

async function takeTurns(cell: Cell, stage: Stage, rounds: number, bench: Bench): Promise<Result[]> {
  const turns = new Map<string, Turn[]>();
  const failed = new Set<System>();
  for (let round = 0; round < rounds; round++) {
    // There and back, so that what drifts with time touches all alike.
    const order = round % 2 === 0 ? stage.systems : stage.systems.toReversed();
    for (const { system, running } of order) {
      if (running.paths[cell.surface] === undefined || failed.has(system)) {
        continue;
      }
      const turn = await attempt(system, bench, () =>
        takeUndisturbed(
          () => take(cell, running, stage),
          ({ load }) => load.disturbance,
          { retakes: bench.options.retakes, progress: bench.progress },
        ),
      );
      if (!turn) {
        failed.add(system);
        turns.delete(system.name);
        continue;
      }
      turns.set(system.name, [...(turns.get(system.name) ?? []), turn]);
      bench.progress(`${cellName(cell)}: ${system.name}: ${short(cpuOfUnit(cell, turn.load))} µs`);
    }
  }
  return [...turns].map(([name, taken]) => summarise(cell, name, taken, turns.get(raw) ?? []));
}

/** A failure fails the run, except that of somebody else's system, which then has no figures of that load. */
async function attempt<T>(system: System, bench: Bench, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!system.foreign) {
      throw error;
    }
    bench.progress(`${system.name}: ${error instanceof Error ? error.message.split("\n", 2).join(" ") : error}`);
    return undefined;
  }
}

/** One turn of a system under a load, with the light load alone and then amid it where the cell has one. */
async function take(cell: Cell, system: Running, stage: Stage): Promise<Turn> {
  const { beside } = cell;
  if (!beside) {
    return { load: await measure(cell, system, stage.load, stage.duration) };
  }
  const quiet = await measure(beside, system, stage.light, stage.duration);
  const load = measure(cell, system, stage.load, stage.duration);
  // One after the other, so that the light load's CPU time is not counted to the streams, which stay open meanwhile.
  const amid = sleep((cell.rampUp ?? rampUpMs) + stage.duration).then(() =>
    measure(beside, system, stage.light, stage.duration),
  );
  return { load: await load, quiet, beside: await amid };
}

/** Throws when a request failed: such a load proves nothing. */
export async function measure(cell: Cell, system: Running, load: Helper, duration: number): Promise<Measurement> {
  const { host, ports, processes } = system;
  const headers = (cell.tenant === "other" && system.otherHeaders) || system.headers;
  const path = system.paths[cell.surface] ?? "";
  const { body, word, expected } = cellRequest(cell);
  const { concurrency, rampUp: warmUp = rampUpMs } = cell;
  const job: Job = { host, ports, path, headers, body, word, expected, concurrency, processes, warmUp, duration };
  const measured = await load.ask<Measurement>({ ...job });
  if (measured.errors.length > 0) {
    throw new Error(`${cellName(cell)}: requests failed:\n${measured.errors.join("\n")}`);
  }
  return measured;
}
