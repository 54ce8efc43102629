import { setTimeout as sleep } from "node:timers/promises";
import type { Measurement } from "./load/load.ts";
import { type Cell, shortPrompt } from "./measure/cell.ts";
import { startHelper } from "./measure/processes.ts";
import { spread } from "./report/statistics.ts";
import { short } from "./report/table.ts";
import { measure } from "./run.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";
import type { System } from "./systems/interface.ts";

/** A model whose server takes 32 requests at once, each for about 200 ms: 160 a second, which is no work for a CPU. */
const capacity = 32;
const sharedModel = (enginePort: number) => ({
  id: "shared",
  context_length: 131_072,
  servers: [{ url: `http://127.0.0.1:${enginePort}`, engine: "vllm", model: "paced", capacity }],
});

const other: Cell = {
  scenario: "tenants",
  surface: "chat",
  stream: true,
  model: "shared",
  size: 10,
  prompt: shortPrompt,
  concurrency: 4,
  tenant: "other",
};
/** Twelve times what the server takes. */
const { tenant: _, ...flood } = { ...other, concurrency: capacity * 12 };

/** How long a turn must be for 99th percentiles of four clients to mean something, in milliseconds. */
const shortest = 6000;
const rampUp = 1500;

/** One tenant's flood of a model's servers and what another tenant notices of it. */
export const tenants: Scenario = {
  name: "tenants",
  shows: "what one tenant's flood of a model does to another's requests",
  async run(bench) {
    const [system] = bench.systems(["tollgate"]).filter(({ name }) => name === "tollgate");
    return system === undefined ? {} : { figures: await floodOne(system, bench) };
  },
};

async function floodOne(system: System, { options, directory, progress }: Bench): Promise<Figure[]> {
  const engine = await startHelper("load/engine.ts");
  const [load, light] = [await startHelper("load/load.ts"), await startHelper("load/load.ts")];
  const running = await system.start({ enginePort: engine.port, directory, models: [sharedModel(engine.port)] });
  const duration = Math.max(options.duration, shortest);
  const turns: { readonly quiet: Measurement; readonly beside: Measurement }[] = [];
  try {
    await measure({ ...flood, concurrency: capacity }, running, load, 2000); // compiles the code
    for (let round = 0; round < options.rounds; round++) {
      const quiet = await measure(other, running, light, duration);
      const flooded = measure({ ...flood, rampUp }, running, load, duration + 2000);
      await sleep(rampUp);
      const beside = await measure(other, running, light, duration);
      await flooded;
      turns.push({ quiet, beside });
      progress(`tenants: p99 ${short(quiet.whole.p99)} ms alone, ${short(beside.whole.p99)} ms beside a flood`);
    }
  } finally {
    await running.stop();
    await light.stop();
    await load.stop();
    await engine.stop();
  }
  const figure = (
    name: string,
    unit: string,
    of: (turn: (typeof turns)[number]) => number,
    limit?: number,
  ): Figure => ({
    ...{ scenario: "tenants", name, unit, value: spread(turns.map(of)), better: "lower" },
    ...(limit !== undefined && { limit }),
  });
  return [
    figure("whole request alone, p99", "ms", ({ quiet }) => quiet.whole.p99),
    figure("whole request beside another's flood, p99", "ms", ({ beside }) => beside.whole.p99),
    figure("p99 beside another's flood", "× alone", ({ quiet, beside }) => beside.whole.p99 / quiet.whole.p99, 2),
    figure("first token alone, p99", "ms", ({ quiet }) => quiet.firstWord.p99),
    figure("first token beside another's flood, p99", "ms", ({ beside }) => beside.firstWord.p99),
  ];
}
