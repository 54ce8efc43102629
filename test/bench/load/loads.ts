import { type Cell, longPrompt, shortPrompt } from "../measure/cell.ts";
import { secondReplica } from "../report/second-replica.ts";
import { run } from "../run.ts";
import type { Scenario } from "../scenario.ts";

/** A scenario that loads systems with requests of several kinds, in turn. */
interface Load {
  readonly name: string;
  readonly shows: string;
  readonly systems: readonly string[];
  /** All cells. A turn is measured for so many milliseconds. */
  readonly cells: (duration: number) => readonly Cell[];
  /** Those that say most. */
  readonly quick: (duration: number) => readonly Cell[];
}

const systems = ["pass-through", "tollgate"];
const concurrencies = [1, 16, 64];
const generation = { prompt: shortPrompt, model: "eager", surface: "chat" } as const;
const plain = { ...generation, scenario: "plain", stream: false, concurrency: 16, size: 10 };
const stream = { ...generation, scenario: "stream", stream: true, concurrency: 16, size: 200 };
const firstToken = { ...stream, model: "paced", concurrency: 64, size: 10 };
const newcomer = { ...plain, scenario: "streams", concurrency: 1 };

/** Costs a gateway much and the load generator little, so that two replicas find room beside it. */
const roomy = { ...plain, scenario: "scaled-out", concurrency: 64, prompt: 100_000 };

/** Every combination of surface, concurrency, tokens and prompt. */
function matrix(cell: Cell): Cell[] {
  return (["chat", "messages"] as const).flatMap((surface) =>
    concurrencies.flatMap((concurrency) =>
      [10, 200].flatMap((size) =>
        [shortPrompt, longPrompt].map((prompt) => ({ ...cell, surface, concurrency, size, prompt })),
      ),
    ),
  );
}

function embeddings(concurrency: number): Cell[] {
  const cell = { ...plain, scenario: "embeddings", surface: "embeddings", model: "embed", concurrency } as const;
  return [1, 32].map((size) => ({ ...cell, size }));
}

function deployed(scenario: string, concurrency: number): Cell[] {
  return [plain, stream].map((cell) => ({ ...cell, scenario, concurrency }));
}

/** Streams of a token a second that are all open until newcomers have been measured among them. */
function openStreams(concurrency: number, duration: number): Cell {
  const rampUp = 500 + concurrency * 3;
  const size = Math.ceil((rampUp + 2 * duration) / 1000) + 3;
  return { ...stream, scenario: "streams", model: "slow", concurrency, size, rampUp, beside: newcomer };
}

const loads: readonly Load[] = [
  {
    name: "plain",
    shows: "CPU of a request that is answered whole",
    systems,
    cells: () => [...matrix(plain), { ...plain, model: "burst" }, { ...plain, model: "burst", size: 200 }],
    quick: () => [plain, { ...plain, surface: "messages" }],
  },
  {
    name: "stream",
    shows: "CPU of a streamed token, and the time to the first one",
    systems,
    cells: () => [
      ...matrix(stream),
      { ...stream, model: "steady" },
      { ...stream, model: "steady", concurrency: 64 },
      firstToken,
      { ...firstToken, surface: "messages" },
    ],
    quick: () => [stream, { ...stream, surface: "messages" }, firstToken],
  },
  {
    name: "embeddings",
    shows: "CPU of an embeddings request",
    systems,
    cells: () => concurrencies.flatMap(embeddings),
    quick: () => embeddings(16),
  },
  {
    name: "split",
    shows: "facade and core as two processes beside all in one",
    systems: [...systems, "tollgate-split"],
    cells: () => [
      ...[16, 64].flatMap((concurrency) => deployed("split", concurrency)),
      { ...plain, scenario: "split", prompt: longPrompt },
    ],
    quick: () => deployed("split", 16),
  },
  {
    name: "scaled-out",
    shows: "one and two replicas on one port, two cores and two facades, on PostgreSQL and Redis",
    systems: ["pass-through", "tollgate-replicas-1", "tollgate-replicas-2", "tollgate-scaled-out"],
    cells: () => [...deployed("scaled-out", 64), roomy],
    quick: () => [...deployed("scaled-out", 64), roomy],
  },
  {
    name: "streams",
    shows: "up to 5,000 open streams: memory, CPU of a token, a newcomer's latency",
    systems,
    cells: (duration) => [100, 1000, 2500, 5000].map((concurrency) => openStreams(concurrency, duration)),
    quick: (duration) => [openStreams(500, duration)],
  },
  {
    name: "prompts",
    shows: "CPU of a request against the size of its prompt",
    systems,
    cells: () => [shortPrompt, 10_000, longPrompt, 200_000, 1_000_000].map(promptOf),
    quick: () => [shortPrompt, longPrompt].map(promptOf),
  },
];

function promptOf(prompt: number): Cell {
  return { ...plain, scenario: "prompts", prompt, concurrency: 4 };
}

export const loadScenarios: readonly Scenario[] = loads.map((load) => ({
  name: load.name,
  shows: load.shows,
  async run(bench) {
    const { quick, duration } = bench.options;
    const cells = (quick ? load.quick : load.cells)(duration);
    const results = await run(cells, bench.systems(load.systems), bench);
    return { results, figures: secondReplica(results) };
  },
}));
