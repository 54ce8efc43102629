import { simulatedNames } from "#lib/inference/engine-names.ts";
import type { Clock } from "#lib/time/clock.ts";
import { systemClock } from "#lib/time/clock.ts";
import { defaultGpu, type Gpu } from "./engine/gpu/gpu.ts";
import { blockSize } from "./engine/gpu/kv-cache.ts";
import type { ModelTraits } from "./engine/model.ts";
import type { ThinkingOptions } from "./engine/thinking.ts";
import type { Fault } from "./faults.ts";

/** Engines whose HTTP dialect the simulator speaks. */
export const dialectNames = [...simulatedNames, "transformers"] as const;
export type DialectName = (typeof dialectNames)[number];

/** A model to simulate. Defaults: those of a generation model that does not think. */
export interface ModelOptions extends Partial<Omit<ModelTraits, "id" | "thinking">> {
  readonly id: string;
  readonly thinking?: Partial<ThinkingOptions>;
  /** The GPU of this model alone. */
  readonly gpu?: Partial<Gpu>;
}

/** A server's start options, as far as they are visible to clients. All are on by default. */
export interface Setup {
  /** `--enable-auto-tool-choice`, `--tool-call-parser`, `--jinja`. */
  readonly toolCalls: boolean;
  /** `--enable-prefix-caching`; SGLang's `--disable-radix-cache` is its opposite. */
  readonly prefixCaching: boolean;
  /** `--enable-prompt-tokens-details`, `--enable-cache-report`. */
  readonly cacheReport: boolean;
  /** `--metrics`, `--enable-metrics`; vLLM's `--disable-log-stats` is its opposite. */
  readonly metrics: boolean;
}

/** Options of a simulated server. Everything but the models has a default. */
export interface SimulatorOptions {
  /** A string is a model with that id and all defaults. */
  readonly models: readonly (string | ModelOptions)[];
  /** Default: 127.0.0.1 and a free port. */
  readonly host?: string;
  readonly port?: number;
  /** The engine whose HTTP it speaks. Default: vllm. */
  readonly dialect?: DialectName;
  /** How many times faster than a real GPU it runs. 0: no delay. Default: 1. */
  readonly speed?: number;
  /** The seed for requests without one. Default: 0. */
  readonly seed?: number;
  /** The GPU of models without their own. */
  readonly gpu?: Partial<Gpu>;
  /** Milliseconds after the start during which models are loading and requests get 503. Default: 0. */
  readonly loading?: number;
  /** Whether embedding inputs that are too long are truncated silently. Default: the engine's own default. */
  readonly truncates?: boolean;
  readonly setup?: Partial<Setup>;
  /** The key that clients must send as `Authorization: Bearer`. Default: none. */
  readonly apiKey?: string;
  /** A fault of every request from the start. */
  readonly fault?: Fault;
  readonly clock?: Clock;
}

/** A simulator's options with all defaults filled in. */
export interface Settings {
  readonly models: readonly { readonly traits: ModelTraits; readonly gpu: Gpu }[];
  readonly host: string;
  readonly port: number;
  readonly dialect: DialectName;
  readonly speed: number;
  readonly seed: number;
  readonly loading: number;
  readonly truncates: boolean | undefined;
  readonly setup: Setup;
  readonly apiKey: string | undefined;
  readonly fault: Fault | undefined;
  readonly clock: Clock;
}

/** Fills in the defaults. Throws when a model's context does not fit its GPU, since engines refuse to start then. */
export function settle(options: SimulatorOptions): Settings {
  return {
    models: options.models.map((model) => settleModel(typeof model === "string" ? { id: model } : model, options.gpu)),
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    dialect: options.dialect ?? "vllm",
    speed: options.speed ?? 1,
    seed: options.seed ?? 0,
    loading: options.loading ?? 0,
    truncates: options.truncates,
    setup: { toolCalls: true, prefixCaching: true, cacheReport: true, metrics: true, ...options.setup },
    apiKey: options.apiKey,
    fault: options.fault,
    clock: options.clock ?? systemClock,
  };
}

function settleModel({ gpu: own, ...model }: ModelOptions, shared: Partial<Gpu> = {}) {
  const kind = model.kind ?? "generation";
  const traits: ModelTraits = {
    contextLength: kind === "embedding" ? 8192 : 32_768,
    answers: "words",
    systemAnywhere: false,
    dimensions: 1024,
    ...model,
    kind,
    thinking: { mode: "none", depths: false, shown: "field", ...model.thinking },
  };
  const gpu = { ...defaultGpu, ...shared, ...own };
  if (gpu.kvTokens < traits.contextLength) {
    throw new Error(
      `${traits.id}: a context of ${traits.contextLength} tokens does not fit ${gpu.kvTokens} tokens of KV`,
    );
  }
  if (gpu.kvTokens % blockSize !== 0) {
    throw new Error(`${traits.id}: kvTokens must be a multiple of ${blockSize}`);
  }
  return { traits, gpu };
}
