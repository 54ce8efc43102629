import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cell, cellName, shortPrompt } from "../measure/cell.ts";
import { withNodeOptions } from "../measure/node-options.ts";
import { spread } from "../report/statistics.ts";
import { run } from "../run.ts";
import type { Bench, Figure, Findings, Scenario } from "../scenario.ts";
import { byPart, lastLoad, readMainProfile } from "./cpu-profile.ts";
import { flameGraph } from "./flame-graph.ts";

const common = { scenario: "profile", surface: "chat", model: "eager", prompt: shortPrompt, concurrency: 16 } as const;
const plain: Cell = { ...common, stream: false, size: 10 };
const stream: Cell = { ...common, stream: true, size: 200 };

/** Parts that take less than this share of the time are not told apart. */
const least = 0.01;

/** Where the main thread's time goes; sampling costs about a third on top of what it shows. */
export const profile: Scenario = {
  name: "profile",
  shows: "where the time of a plain request and of a streamed token goes, as flame graphs",
  onlyNamed: true,
  async run(bench) {
    const found = [await take("plain", plain, bench), await take("stream", stream, bench)];
    return {
      figures: found.flatMap(({ figures }) => figures ?? []),
      plots: new Map(found.flatMap(({ plots }) => [...(plots ?? [])])),
    };
  },
};

async function take(name: string, cell: Cell, bench: Bench): Promise<Findings> {
  const directory = join(bench.directory, name);
  mkdirSync(directory);
  const once = { ...bench, directory, options: { ...bench.options, rounds: 1 } };
  const sampling = ["--cpu-prof", "--cpu-prof-interval=250", `--cpu-prof-dir=${directory}`];
  const [result] = await withNodeOptions(sampling, () => run([cell], bench.systems(["tollgate"]), once));
  if (result === undefined) {
    throw new Error("nothing was measured");
  }
  // The first and the last tenth of the load may hold what is not part of it.
  const length = bench.options.duration * 1000 * 0.8;
  const root = lastLoad(readMainProfile(directory), length);
  const [unit, rate] = cell.stream
    ? ["token", result.tokensPerSecond.median]
    : ["request", result.requestsPerSecond.median];
  const count = (rate * length) / 1e6;
  const figures = byPart(root)
    .filter(([, time]) => time / root.total > least)
    .map(([part, time]): Figure => {
      const value = spread([time / count]);
      return { scenario: "profile", name: `${name}: ${part}`, unit: `µs a ${unit}`, value, better: "lower" };
    });
  const title = `${cellName(cell)}: where the time goes`;
  return { figures, plots: new Map([[`flames/${name}`, flameGraph(title, root, count, unit)]]) };
}
