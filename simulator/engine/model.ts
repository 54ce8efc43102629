import type { Clock } from "#lib/time/clock.ts";
import { type AnswerMode, answer, type Limits, type Question } from "./answer.ts";
import { embedTokens } from "./embedding.ts";
import type { Gpu } from "./gpu/gpu.ts";
import { Scheduler } from "./gpu/scheduler.ts";
import type { Sequence } from "./gpu/sequence.ts";
import type { Output } from "./output.ts";
import { hashNumbers, hashText } from "./text/random.ts";
import type { ThinkingOptions } from "./thinking.ts";

/** A simulated model. */
export interface ModelTraits {
  readonly id: string;
  readonly kind: "generation" | "embedding";
  /** The most tokens of prompt and answer together. For an embedding model, of one input. */
  readonly contextLength: number;
  readonly thinking: ThinkingOptions;
  readonly answers: AnswerMode;
  /** Whether the chat template accepts a system message after the first turn. */
  readonly systemAnywhere: boolean;
  /** The dimensions of an embedding model's vectors. */
  readonly dimensions: number;
}

/** What the engine is asked to generate. */
export interface Generation extends Omit<Question, "seed"> {
  readonly prompt: readonly number[];
  readonly limits: Limits;
  readonly seed: number;
  readonly salt: string | undefined;
  readonly stallAt: number | undefined;
}

/** A running generation. */
export interface Run {
  /** Determined by model, prompt and seed. */
  readonly seed: number;
  readonly output: Output;
  readonly sequence: Sequence;
}

/** One model on its own simulated GPU: the engine without its protocol. */
export class Model {
  readonly traits: ModelTraits;
  readonly scheduler: Scheduler;
  readonly gpu: Gpu;
  readonly #identity: number;

  constructor(traits: ModelTraits, gpu: Gpu, speed: number, clock: Clock) {
    this.traits = traits;
    this.gpu = gpu;
    this.scheduler = new Scheduler(gpu, speed, clock);
    this.#identity = hashText(traits.id);
  }

  /** Starts a generation. `progress` is called with new output tokens, never before this returns. */
  start(generation: Generation, progress: (from: number, to: number) => void): Run {
    const seed = hashNumbers(generation.prompt, this.#identity ^ Math.imul(generation.seed, 0x9e3779b1));
    const output = answer({ ...generation, seed }, generation.limits, this.traits.answers);
    const sequence = this.scheduler.submit({
      prompt: generation.prompt,
      output: output.ids,
      salt: generation.salt === undefined ? 0 : hashText(generation.salt),
      stallAt: generation.stallAt,
      progress,
    });
    return { seed, output, sequence };
  }

  /** Embeds inputs and calls `done` with their vectors, of unit length and in order. The returned function stops it. */
  embed(inputs: readonly (readonly number[])[], done: (vectors: Float32Array[]) => void): () => void {
    let left = inputs.length;
    const progress = () => {
      if (--left === 0) {
        done(inputs.map((tokens) => embedTokens(tokens, this.traits.dimensions)));
      }
    };
    const sequences = inputs.map((prompt) =>
      this.scheduler.submit({ prompt, output: [], salt: 0, stallAt: undefined, progress }),
    );
    return () => {
      for (const sequence of sequences) {
        this.scheduler.abort(sequence);
      }
    };
  }
}
