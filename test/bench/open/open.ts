import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cell, cellRequest, shortPrompt } from "../measure/cell.ts";
import { type Helper, startHelper } from "../measure/processes.ts";
import { takeUndisturbed } from "../measure/undisturbed.ts";
import { spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import { measure, raw } from "../run.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import type { Running } from "../systems/interface.ts";
import type { OpenJob, OpenMeasurement } from "./generator.ts";

const plain: Cell = {
  scenario: "open",
  surface: "chat",
  stream: false,
  model: "eager",
  size: 10,
  prompt: shortPrompt,
  concurrency: 16,
};
const stream: Cell = { ...plain, stream: true };
const steady: Cell = { ...plain, model: "steady" };

/** One open load. The rate is in requests a second, or a part of what the system answers in the closed loop. */
interface OpenLoad {
  readonly name: string;
  readonly cell: Cell;
  readonly rate: { readonly aSecond: number } | { readonly ofCapacity: number };
  readonly newClients?: true;
  readonly stall?: true;
  /** The most milliseconds that the 99th percentile may have beyond the pass-through's. */
  readonly addedP99?: number;
}

const aSecond = (rate: number) => ({ aSecond: rate });
const ofCapacity = (part: number) => ({ ofCapacity: part });

/** What the budgets are of. */
const budgeted: readonly OpenLoad[] = [
  { name: "plain, 1,000 a second", cell: plain, rate: aSecond(1000), addedP99: 2 },
  { name: "plain, 2,000 a second", cell: plain, rate: aSecond(2000), addedP99: 4 },
  { name: "plain, 4,000 a second", cell: plain, rate: aSecond(4000), addedP99: 10 },
  { name: "plain at 5 ms a token, 200 a second", cell: steady, rate: aSecond(200), addedP99: 3 },
  { name: "plain at 5 ms a token, 1,000 a second", cell: steady, rate: aSecond(1000), addedP99: 5 },
];
const overload: OpenLoad = { name: "plain, 120 % of capacity", cell: plain, rate: ofCapacity(1.2) };
const stalled: OpenLoad = { name: "plain, 60 %, stalled for 100 ms", cell: plain, rate: ofCapacity(0.6), stall: true };
const parts = [0.05, 0.2, 0.4, 0.6, 0.8];
const swept: readonly OpenLoad[] = [
  ...parts.map((part) => ({ name: `plain, ${part * 100} %`, cell: plain, rate: ofCapacity(part) })),
  ...parts.map((part) => ({ name: `stream, ${part * 100} %`, cell: stream, rate: ofCapacity(part) })),
  { name: "stream, 120 %", cell: stream, rate: ofCapacity(1.2) },
  ...[0.05, 0.2, 0.4].map((part) => ({
    name: `plain, new clients, ${part * 100} %`,
    cell: plain,
    rate: ofCapacity(part),
    newClients: true as const,
  })),
];

/** Where more is offered than can be served: milliseconds of what is answered and of refusals, and memory. */
const overloaded = { answeredP99: 250, refusedP99: 100, residentMib: 300 };
const mostRecovery = 500;

/** Requests that come whether or not earlier ones are answered, beside the pass-through and a peer. */
export const open: Scenario = {
  name: "open",
  shows: "tails of answers where requests come by a Poisson process, at parts of the capacity and beyond it",
  onlyNamed: true,
  async run(bench) {
    const engine = await startHelper("load/engine.ts");
    const closed = await startHelper("load/load.ts");
    const generator = await startHelper("open/generator.ts");
    const started: { readonly name: string; readonly running: Running; readonly capacity: number }[] = [];
    try {
      for (const system of bench.systems([raw, "tollgate"])) {
        const directory = join(bench.directory, system.name);
        mkdirSync(directory, { recursive: true });
        const running = await system.start({ enginePort: engine.port, directory });
        const capacity = await capacityOf(running, closed);
        bench.progress(`${system.name}: ${short(capacity)} requests a second in the closed loop`);
        started.push({ name: system.name, running, capacity });
      }
      const figures: Figure[] = [];
      const loads = [...budgeted, overload, stalled, ...(bench.options.quick ? [] : swept)];
      for (const load of loads) {
        const taken = new Map<string, OpenMeasurement[]>(started.map(({ name }) => [name, []]));
        for (let round = 0; round < bench.options.rounds; round++) {
          for (const { name, running, capacity } of round % 2 === 0 ? started : started.toReversed()) {
            taken.get(name)?.push(await take(load, running, capacity, generator, bench));
          }
        }
        figures.push(...toFigures(load, taken));
      }
      return { figures };
    } finally {
      for (const { running } of started) {
        await running.stop();
      }
      await generator.stop();
      await closed.stop();
      await engine.stop();
    }
  },
};

/** Requests a second with 16 at once, once the code is compiled. */
async function capacityOf(running: Running, load: Helper): Promise<number> {
  await measure({ ...plain, stream: true }, running, load, 3000);
  await measure(plain, running, load, 5000);
  const { requests, duration } = await measure(plain, running, load, 3000);
  return (requests / duration) * 1000;
}

async function take(
  load: OpenLoad,
  running: Running,
  capacity: number,
  generator: Helper,
  { options, progress }: Bench,
): Promise<OpenMeasurement> {
  const { host, ports, headers, paths, processes } = running;
  const { body, word, expected } = cellRequest(load.cell);
  const rate = "aSecond" in load.rate ? load.rate.aSecond : load.rate.ofCapacity * capacity;
  const job: OpenJob = {
    host,
    port: ports[0] as number,
    path: paths[load.cell.surface] ?? "",
    headers,
    body,
    word,
    expected,
    rate,
    newClients: load.newClients ?? false,
    warmUp: 1000,
    duration: options.duration,
    stall: load.stall ?? false,
    processes,
  };
  const measured = await takeUndisturbed(
    () => generator.ask<OpenMeasurement>({ ...job }),
    ({ disturbance }) => disturbance,
    { retakes: options.retakes, progress },
  );
  const { whole, refused, mostInFlight, unsent, unanswered, recovery, resident, errors } = measured;
  progress(
    `${load.name}: p50 ${short(whole.p50)}, p99 ${short(whole.p99)}, p99.9 ${short(whole.p999)} ms, ` +
      `${refused.count} of ${whole.count + refused.count} refused${refused.count > 0 ? ` (p99 ${short(refused.p99)} ms)` : ""}, ` +
      `${mostInFlight} in flight, ${unsent} not sent, ${unanswered} not answered, ${short(resident / 2 ** 20)} MiB` +
      (load.stall ? `, back after ${short(recovery)} ms` : ""),
  );
  if (errors.length > 0) {
    throw new Error(`${load.name}: requests failed:\n${errors.join("\n")}`);
  }
  return measured;
}

/** A figure of a turn. */
interface Measure {
  readonly what: string;
  readonly unit: string;
  readonly of: (turn: OpenMeasurement) => number;
  readonly limit?: number | undefined;
}

function toFigures(load: OpenLoad, taken: ReadonlyMap<string, readonly OpenMeasurement[]>): Figure[] {
  const base = spread((taken.get(raw) ?? []).map(({ whole }) => whole.p99)).median;
  return [...taken].flatMap(([name, turns]) =>
    measuresOf(load, name === raw, base).map(({ what, unit, of, limit }) => ({
      scenario: "open",
      name: `${load.name}: ${name}: ${what}`,
      unit,
      value: spread(turns.map(of)),
      better: "lower",
      ...(limit !== undefined && { limit }),
    })),
  );
}

/** `base`: the pass-through's 99th percentile, in milliseconds. */
function measuresOf(load: OpenLoad, isRaw: boolean, base: number): Measure[] {
  const bounds = load === overload && !isRaw ? overloaded : undefined;
  const measures: (Measure | undefined)[] = [
    { what: "p50", unit: "ms", of: ({ whole }) => whole.p50 },
    { what: "p99", unit: "ms", of: ({ whole }) => whole.p99, limit: bounds?.answeredP99 },
    { what: "p99.9", unit: "ms", of: ({ whole }) => whole.p999 },
    load.cell.stream ? { what: "first word, p99", unit: "ms", of: ({ firstWord }) => firstWord.p99 } : undefined,
    isRaw
      ? undefined
      : {
          what: "p99 beyond the pass-through's",
          unit: "ms",
          of: ({ whole }) => whole.p99 - base,
          limit: load.addedP99,
        },
    { what: "most in flight", unit: "requests", of: (turn) => turn.mostInFlight },
    { what: "CPU", unit: "µs", of: ({ cpu }) => cpu },
    { what: "CPU idle", unit: "%", of: ({ idle }) => idle * 100 },
    { what: "memory", unit: "MiB", of: ({ resident }) => resident / 2 ** 20, limit: bounds?.residentMib },
    { what: "refused", unit: "%", of: ({ whole, refused }) => (refused.count * 100) / (whole.count + refused.count) },
    { what: "not sent", unit: "requests", of: ({ unsent }) => unsent },
    { what: "not answered", unit: "requests", of: ({ unanswered }) => unanswered },
    load === overload
      ? { what: "refusals, p99", unit: "ms", of: ({ refused }) => refused.p99, limit: bounds?.refusedP99 }
      : undefined,
    load.stall
      ? {
          what: "back after a stall",
          unit: "ms",
          of: ({ recovery }) => recovery,
          limit: isRaw ? undefined : mostRecovery,
        }
      : undefined,
  ];
  return measures.filter((one) => one !== undefined);
}
