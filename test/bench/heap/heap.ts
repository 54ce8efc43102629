import { readFileSync, statSync } from "node:fs";
import { type Cell, cellName, shortPrompt } from "../measure/cell.ts";
import { withNodeOptions } from "../measure/node-options.ts";
import { type Helper, startHelper } from "../measure/processes.ts";
import { spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import { measure } from "../run.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import type { Running } from "../systems/interface.ts";
import { type Collections, sumCollections } from "./collections.ts";

/** All clients come at once: requests before the measurement would be missing in its count. */
const common = { scenario: "heap", surface: "chat", model: "eager", concurrency: 16, size: 10, rampUp: 0 } as const;
const cells: readonly Cell[] = [
  { ...common, stream: false, prompt: shortPrompt },
  { ...common, stream: true, prompt: shortPrompt },
];
const warmUpMs = 10_000;
/** A turn is so many times a usual one: small collections come a few times a second. */
const turnPart = 3;
/** Of a plain request, in bytes. */
const mostPromoted = 300;

/** What requests leave to V8's collections. These are counts, which other programs on the machine change little. */
export const heap: Scenario = {
  name: "heap",
  shows: "bytes a request allocates, and those that outlive two small collections; CPU beside them",
  onlyNamed: true,
  async run(bench) {
    const [system] = bench.systems(["tollgate"]).filter(({ name }) => name === "tollgate");
    if (system === undefined) {
      return {};
    }
    const engine = await startHelper("load/engine.ts");
    const load = await startHelper("load/load.ts");
    const { directory } = bench;
    const running = await withNodeOptions(["--trace-gc-nvp"], () =>
      system.start({ enginePort: engine.port, directory }),
    );
    try {
      const figures: Figure[] = [];
      for (const cell of cells) {
        figures.push(...(await take(cell, running, load, bench)));
      }
      return { figures };
    } finally {
      await running.stop();
      await load.stop();
      await engine.stop();
    }
  },
};

/** A turn: per request, but for the collections. */
interface Turn extends Collections {
  readonly cpu: number;
  readonly resident: number;
}

async function take(cell: Cell, running: Running, load: Helper, { options, progress }: Bench): Promise<Figure[]> {
  await measure(cell, running, load, warmUpMs);
  const turns: Turn[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const log = running.inside?.parts[0]?.log ?? "";
    const from = statSync(log).size;
    const { requests, cpu, resident } = await measure(cell, running, load, options.duration * turnPart);
    const found = sumCollections(readFileSync(log).toString("latin1", from));
    const turn = {
      ...found,
      allocated: found.allocated / requests,
      promoted: found.promoted / requests,
      cpu: cpu / requests,
      resident: resident / 2 ** 20,
    };
    turns.push(turn);
    progress(
      `${cellName(cell)}: ${requests} requests, ${short(turn.promoted)} of ${short(turn.allocated)} bytes promoted, ` +
        `${turn.small} small and ${turn.full} full collections, ${short(turn.cpu)} µs, ${short(turn.resident)} MiB`,
    );
  }
  const figure = (name: string, unit: string, of: (turn: Turn) => number, limit?: number): Figure => ({
    scenario: "heap",
    name: `${cell.stream ? "stream" : "plain"}: ${name}`,
    unit,
    value: spread(turns.map(of)),
    better: "lower",
    ...(limit !== undefined && { limit }),
  });
  return [
    figure("promoted", "bytes a request", ({ promoted }) => promoted, cell.stream ? undefined : mostPromoted),
    figure("allocated", "bytes a request", ({ allocated }) => allocated),
    figure("small collections", "a turn", ({ small }) => small),
    figure("full collections", "a turn", ({ full }) => full),
    figure("CPU", "µs a request", ({ cpu }) => cpu),
    figure("resident", "MiB", ({ resident }) => resident),
  ];
}
