import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./arguments.ts";
import type { Job, Measurement } from "./load.ts";
import { type Helper, startHelper } from "./processes.ts";
import { type Cell, cellName, cellRequest, type Scenario } from "./scenarios.ts";
import { cpuOfUnit, type Result, summarise } from "./summary.ts";
import type { Running, System } from "./systems/interface.ts";
import { short } from "./table.ts";

/** The yardstick, without which no ratio can be told. */
export const RAW = "pass-through";

/** What a run needs besides its options. */
export interface Bench {
  readonly systems: readonly System[];
  /** Where the systems may write. */
  readonly directory: string;
  readonly progress: (line: string) => void;
}

/** Loads the systems of a scenario in turn, round for round, and puts together what was measured. */
export async function run(scenario: Scenario, options: Options, bench: Bench): Promise<Result[]> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const engine = await startHelper("engine.ts");
    stops.push(engine.stop);
    const load = await startHelper("load.ts");
    stops.push(load.stop);
    const running = new Map<string, Running>();
    for (const system of bench.systems) {
      bench.progress(`starting ${system.name}`);
      const directory = join(bench.directory, system.name);
      mkdirSync(directory, { recursive: true });
      const started = await system.start({ enginePort: engine.port, directory });
      stops.push(started.stop);
      running.set(system.name, started);
    }
    for (const system of running.values()) await warmUp(system, scenario.cells, load, options);
    const results: Result[] = [];
    for (const cell of scenario.cells) results.push(...(await takeTurns(cell, running, load, options, bench)));
    return results;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Every kind of request until the system's code has been compiled; nothing is kept. */
async function warmUp(system: Running, cells: readonly Cell[], load: Helper, options: Options): Promise<void> {
  const kinds = new Map(cells.map((cell) => [`${cell.surface} ${cell.stream}`, cell]));
  for (const cell of kinds.values())
    await measure({ ...cell, concurrency: 16, model: cell.stream ? "eager" : cell.model }, system, load, {
      warmUp: options.duration,
      duration: options.duration,
    });
}

async function takeTurns(
  cell: Cell,
  running: ReadonlyMap<string, Running>,
  load: Helper,
  options: Options,
  bench: Bench,
): Promise<Result[]> {
  const rounds = new Map<string, Measurement[]>();
  for (let round = 0; round < options.rounds; round++) {
    // There and back, so that what drifts with time touches all alike.
    const order = round % 2 === 0 ? [...running] : [...running].reverse();
    for (const [name, system] of order) {
      const measured = await measure(cell, system, load, { warmUp: 500, duration: options.duration });
      if (!measured) continue;
      rounds.set(name, [...(rounds.get(name) ?? []), measured]);
      bench.progress(`${cellName(cell)}: ${name}: ${short(cpuOfUnit(cell, measured))} µs`);
    }
  }
  return [...rounds].map(([name, measured]) => summarise(cell, name, measured, rounds.get(RAW) ?? []));
}

/** Nothing when the system lacks the surface. Throws when a request failed: such a load proves nothing. */
async function measure(
  cell: Cell,
  system: Running,
  load: Helper,
  times: { warmUp: number; duration: number },
): Promise<Measurement | undefined> {
  const path = system.paths[cell.surface];
  if (path === undefined) return undefined;
  const { host, port, headers, processes } = system;
  const { body, word, expected } = cellRequest(cell);
  const { concurrency } = cell;
  const job: Job = { host, port, path, headers, body, word, expected, concurrency, processes, ...times };
  const measured = await load.ask<Measurement>({ ...job });
  if (measured.errors.length > 0) throw new Error(`${cellName(cell)}: requests failed:\n${measured.errors.join("\n")}`);
  return measured;
}
