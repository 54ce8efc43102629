import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import type { Engine, EngineRequest } from "#src/fleet/engines/interface.ts";
import type { DialectName } from "../../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../../simulator/server.ts";
import { drain } from "../collect.ts";

/** What an engine can do beyond what all can. */
export interface Abilities {
  readonly dialect: DialectName;
  /** Whether it streams in server-sent events, among which there may be comments. */
  readonly sse: boolean;
  readonly completions: boolean;
  readonly tools: boolean;
  /** Whether it tells the exact number of prompt tokens in advance. */
  readonly tokenizes: boolean;
  /** Whether it publishes its load. */
  readonly metrics: boolean;
  /** Whether it counts as it goes; else a broken-off answer has a lower bound. */
  readonly exact: boolean;
  /** Whether it tells the tokens of thinking, and of the prompt those from its cache. */
  readonly reasoningTokens: boolean;
  readonly cachedTokens: boolean;
}

const all = {
  sse: true,
  completions: true,
  tools: true,
  tokenizes: true,
  metrics: true,
  exact: true,
  reasoningTokens: true,
  cachedTokens: true,
};
export const engines: readonly Abilities[] = [
  { ...all, dialect: "vllm" },
  { ...all, dialect: "sglang" },
  { ...all, dialect: "llama.cpp", reasoningTokens: false },
  { ...all, dialect: "trtllm", tokenizes: false, reasoningTokens: false },
  { ...all, dialect: "openai", tokenizes: false, metrics: false, exact: false },
  {
    dialect: "ollama",
    sse: false,
    completions: false,
    tools: true,
    tokenizes: false,
    metrics: false,
    exact: false,
    reasoningTokens: false,
    cachedTokens: false,
  },
];

/** Tokens that a model of the simulated engines reads and writes at most. */
export const contextLength = 4096;

/** Models that think, in each way of doing so and of showing it. */
export const thinkers = (["always", "default_off", "default_on"] as const).flatMap((mode) =>
  (["field", "tags", "closing-tag"] as const).map((shown) => ({ id: `${mode}-${shown}`, mode, shown })),
);

/** What a test has of an engine: one that answers at once, and one that takes its time, each with its simulator. */
export interface Started {
  readonly sim: Simulator;
  readonly engine: Engine;
  readonly slow: Simulator;
  readonly slowEngine: Engine;
  generate(request: EngineRequest): ReturnType<typeof drain>;
}

/** Starts an engine for the tests of a `describe`, for whose time it is there, without faults at the start of each test. */
export function startEngine(dialect: DialectName): Started {
  let sim: Simulator;
  let engine: Engine;
  let slow: Simulator;
  let slowEngine: Engine;

  beforeAll(async () => {
    const models = [
      { id: "m", contextLength },
      ...thinkers.map(({ id, mode, shown }) => ({ id, thinking: { mode, shown, depths: true } })),
    ];
    sim = await startSimulator({ dialect, speed: 0, models });
    slow = await startSimulator({ dialect, speed: 1, models: [{ id: "m", contextLength }] });
    engine = connect(sim.url, dialect);
    slowEngine = connect(slow.url, dialect);
  });
  afterEach(() => {
    sim.faults.clear();
    slow.faults.clear();
  });
  afterAll(async () => {
    await Promise.all([engine.close(), slowEngine.close()]);
    await Promise.all([sim.close(), slow.close()]);
  });

  return {
    get sim() {
      return sim;
    },
    get engine() {
      return engine;
    },
    get slow() {
      return slow;
    },
    get slowEngine() {
      return slowEngine;
    },
    generate: (request) => drain(engine.generate(request, never())),
  };
}

/** The signal of a caller who stays. */
export const never = () => new AbortController().signal;

/** Connects to a simulated engine. */
export function connect(url: string, engine: DialectName, context_length = contextLength): Engine {
  const config = configSchema.parse({ models: [{ id: "m", context_length, servers: [{ url, engine }] }] });
  const [model] = config.models;
  const [server] = model?.servers ?? [];
  if (model === undefined || server === undefined) {
    throw new Error("the configuration lost its server");
  }
  return createEngine(server, model, config.fleet, systemClock);
}
