import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import {
  type Engine,
  type EngineEmbeddings,
  type EngineEmbedRequest,
  EngineFault,
  type EngineLoad,
  type EngineOutput,
  type EngineRequest,
} from "#src/fleet/engines/interface.ts";

/** The error of a broken server. */
export const broken = (transient = true) =>
  failure(Reason.ENGINE_FAILED, "failed", {}, new EngineFault("it broke", transient));

/** The error of a server that does not listen. */
export const unreachable = () =>
  failure(Reason.ENGINE_FAILED, "failed", {}, new EngineFault("ECONNREFUSED", true, undefined, true));

/** The refusal of an input that is too long. */
const tooLong = failure(Reason.INPUT_TOO_LONG, "too long", {}, new EngineFault("it is too long", false));

/** The error of a full server. */
export const full = (retryAfterMs = 1000) =>
  failure(Reason.OVERLOADED, "full", { retryAfter: toDuration(retryAfterMs) }, new EngineFault("it is full", true));

export const output = (outputTokens: number, finish?: FinishReason): EngineOutput => ({
  events: [],
  usage: { inputTokens: 5, outputTokens },
  ...(finish !== undefined && { finish }),
});

/** A whole answer. */
export const whole = [output(1), output(2, FinishReason.STOP)];

/** A step of an answer: an output, an error, or a silence that only an abort ends. */
export type Step = EngineOutput | Error | "silence" | Promise<void>;

/** An engine that does what a test tells it. */
export class FakeEngine implements Engine {
  /** What the next generations do; without more, they do as usual. */
  readonly scripts: Step[][] = [];
  usual: () => readonly Step[] = () => whole;
  readonly requests: EngineRequest[] = [];
  readonly embedded: EngineEmbedRequest[] = [];
  running = 0;
  health: Error | undefined;
  checks = 0;
  load: EngineLoad | undefined;
  count: number | undefined | Error = 5;
  vector = Float32Array.from([3, 4]);
  /** What it counts in inputs. Undefined: a token each. */
  inputTokens: number | undefined;
  embedError: Error | undefined;
  /** What it answers when it is tried out; a sound embedding server refuses. */
  trial: ((input: string) => EngineEmbeddings) | undefined;
  closed = false;

  async *generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    this.requests.push(request);
    this.running++;
    try {
      for (const step of this.scripts.shift() ?? this.usual()) {
        signal.throwIfAborted();
        if (step instanceof Error) {
          throw step;
        }
        if (step === "silence") {
          await aborted(signal);
        } else if (step instanceof Promise) {
          await Promise.race([step, aborted(signal)]);
        } else {
          yield step;
        }
      }
    } finally {
      this.running--;
    }
  }

  async embed(request: EngineEmbedRequest): Promise<EngineEmbeddings> {
    if (request.runId.startsWith("trial-")) {
      if (this.trial === undefined) {
        throw tooLong;
      }
      return this.trial(request.inputs[0] ?? "");
    }
    this.embedded.push(request);
    if (this.embedError !== undefined) {
      throw this.embedError;
    }
    return { vectors: request.inputs.map(() => this.vector), inputTokens: this.inputTokens ?? request.inputs.length };
  }

  async countTokens(): Promise<number | undefined> {
    if (this.count instanceof Error) {
      throw this.count;
    }
    return this.count;
  }

  async listModels() {
    return [];
  }

  async checkHealth(): Promise<void> {
    this.checks++;
    if (this.health !== undefined) {
      throw this.health;
    }
  }

  async readLoad(): Promise<EngineLoad | undefined> {
    return this.load;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) {
      fail();
    } else {
      signal.addEventListener("abort", fail, { once: true });
    }
  });
}
