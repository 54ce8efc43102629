import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Opened, Opening } from "../memory/readers.ts";
import { spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import { measure } from "../run.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import type { Running, System } from "../systems/interface.ts";
import { type Cell, cellRequest, shortPrompt } from "./cell.ts";
import { usage } from "./cpu.ts";
import { type Helper, startHelper } from "./processes.ts";

const stream = { scenario: "memory", surface: "chat", stream: true, prompt: shortPrompt, concurrency: 1 } as const;
/** A token a second for long enough. */
const open: Cell = { ...stream, model: "slow", size: 120 };
/** Some 7 MB that the engine sends at once: more than the kernel keeps for somebody who does not read. */
const unread: Cell = { ...stream, model: "burst", size: 32_768 };

/** What may be held, in KiB: 5,000 streams fit into a GiB, and a reader who does not read holds a few buffers. */
const kinds = [
  { name: "an open stream", cell: open, read: true, count: 1000, limit: 150 },
  { name: "an answer that its client does not read", cell: unread, read: false, count: 100, limit: 2048 },
];

type Kind = (typeof kinds)[number];

/** A process that has started and has served nobody, in MiB. */
const started = { name: "a process that has started", limit: 140 };

const settleMs = 3000;

/** Resident memory of a process, and that a stream holds, read and unread. */
export const memory: Scenario = {
  name: "memory",
  shows: "resident memory after the start, of an open stream, and of one whose client does not read",
  async run(bench) {
    const systems = bench.systems(["tollgate"]).filter(({ name }) => name === "tollgate");
    const figures: Figure[] = [];
    for (const system of systems) {
      figures.push(...(await hold(system, bench)));
    }
    return { figures };
  },
};

async function hold(system: System, { options, directory, progress }: Bench): Promise<Figure[]> {
  const held = kinds.map(() => [] as number[]);
  const idle: number[] = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const [at, kind] of kinds.entries()) {
      // A new process each time: what an earlier load has left behind would be used again.
      const own = join(directory, `${round}-${at}`);
      mkdirSync(own);
      const resident = await holdIn(system, own, kind);
      const kibibytes = resident.held / kind.count / 1024;
      idle.push(resident.started / 2 ** 20);
      progress(`memory: ${kind.name}: ${short(kibibytes)} KiB`);
      held[at]?.push(kibibytes);
    }
  }
  const common = { scenario: "memory", better: "lower" } as const;
  return [
    { ...common, ...started, unit: "MiB", value: spread(idle) },
    ...kinds.map(({ name, limit }, at) => ({ ...common, name, unit: "KiB", value: spread(held[at] ?? []), limit })),
  ];
}

/** Bytes of resident memory. */
interface Resident {
  /** After the start, before anybody was served. */
  readonly started: number;
  /** That all streams of a kind together add. */
  readonly held: number;
}

async function holdIn(system: System, directory: string, kind: Kind): Promise<Resident> {
  const engine = await startHelper("load/engine.ts");
  const [load, readers] = [await startHelper("load/load.ts"), await startHelper("memory/readers.ts")];
  const running = await system.start({ enginePort: engine.port, directory });
  try {
    await sleep(settleMs);
    const started = usage(running.processes).resident;
    // The heap finds its size first: what grows later is the streams.
    await measure({ ...open, model: "eager", size: 10, concurrency: 64 }, running, load, 5000);
    return { started, held: await holdSome(kind, running, readers) };
  } finally {
    await running.stop();
    await readers.stop();
    await load.stop();
    await engine.stop();
  }
}

/** Bytes of resident memory that all of them together add. */
async function holdSome(
  { cell, read, count }: Kind,
  { host, ports, headers, paths, processes }: Running,
  readers: Helper,
): Promise<number> {
  await sleep(settleMs);
  const before = usage(processes).resident;
  const [port = 0] = ports;
  const opening: Opening = { host, port, headers, path: paths.chat ?? "", body: cellRequest(cell).body, count, read };
  const { error } = await readers.ask<Opened>({ ...opening });
  if (error !== undefined) {
    throw new Error(`memory: ${error}`);
  }
  await sleep(settleMs);
  const after = usage(processes).resident;
  await readers.ask<Opened>("close");
  return after - before;
}
