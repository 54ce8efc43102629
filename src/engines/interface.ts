import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FinishReason, GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { TraceContext } from "../../lib/rpc/trace-context.ts";
import type { ServiceClass } from "../../lib/service-class.ts";
import type { EngineName } from "./names.ts";

/** A request to generate. Everything is settled: defaults are applied, limits are clamped. */
export interface EngineRequest {
  /**
   * Names the run to the engine and in its log: unique, as engines know requests by it and stop them by it. Request ids
   * are not: two accounts may choose the same.
   */
  readonly runId: string;
  /** The model under the engine's own name. */
  readonly model: string;
  /** Turns for the chat template, or bare text to be continued. */
  readonly prompt:
    | { readonly case: "conversation"; readonly value: Conversation }
    | { readonly case: "text"; readonly value: string };
  /** The most tokens to produce, at least 1. */
  readonly maxOutputTokens: number;
  readonly sampling: Sampling;
  readonly stopSequences: readonly string[];
  /** Whether to think. Undefined: the model has no switch, or its default holds. */
  readonly thinking?: EngineThinking;
  /** How the model takes the switch, and whether `<think>` blocks have to be split off its text. */
  readonly recipe: ThinkingRecipe;
  /** Keeps accounts apart in the engine's prefix cache. Undefined: cached prefixes are shared. */
  readonly cacheSalt?: string;
  /** Its place in the engine's own queue. Undefined: the engine has no such order. */
  readonly priority?: ServiceClass;
  /** Passed on, so that the engine's own spans stand below ours. Undefined: nothing is traced. */
  readonly trace?: TraceContext;
}

/** The state of the thinking switch. `deepest` is set on models that have depths. */
export interface EngineThinking {
  readonly enabled: boolean;
  readonly deepest: boolean;
}

/** How a model is told to think, from its configuration. */
export interface ThinkingRecipe {
  readonly mode: "none" | "always" | "default_off" | "default_on";
  readonly depths: boolean;
  /** `chat_template_kwargs`: as template variables; `reasoning_effort`: as that field. */
  readonly switch: "chat_template_kwargs" | "reasoning_effort";
}

/** Tokens as the engine has counted them so far. The last one seen is what is billed. */
export interface EngineUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  /**
   * Only what it is at least: the engine counts at the end, which has not come. Nothing may be decided by it
   * but what a broken-off answer costs. Absent: the engine's own count.
   */
  readonly isLowerBound?: true;
}

/**
 * An engine's output since the last one. The first output of a stream means that the engine
 * has begun; `finish` is set on the last one and on no other. Outputs that were read from the socket
 * together come together.
 */
export interface EngineOutput {
  /** Reasoning, text and tool-call events only: started and finished are the core's to send. */
  readonly events: readonly GenerationEvent[];
  /** The latest running count. Undefined: nothing new was counted. */
  readonly usage?: EngineUsage;
  readonly finish?: FinishReason;
  /** A value of the engine's that is no count at all, for the log. Undefined: none. */
  readonly implausible?: string;
}

/**
 * Engines that may take a prompt beyond the context that the configuration says, and neither count it in advance nor
 * refuse it: what they are behind the common API is not known.
 */
export const unboundedEngines: readonly EngineName[] = ["openai"];

/** A request to embed. */
export interface EngineEmbedRequest {
  /** As for a generation. */
  readonly runId: string;
  readonly model: string;
  readonly inputs: readonly string[];
  /** As for a generation. */
  readonly trace?: TraceContext;
}

/** One vector an input, in input order, as the engine gave them, and the tokens that it counted. */
export interface EngineEmbeddings {
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
}

/** A model as the engine lists it. */
export interface EngineModel {
  readonly id: string;
  /** Undefined: the engine does not tell. */
  readonly contextLength?: number;
  /** The kind of model. Undefined: the engine does not tell. */
  readonly kind?: "generation" | "embedding";
}

/** How busy an engine is by its own metrics. Undefined fields: it does not tell. */
export interface EngineLoad {
  readonly running?: number;
  readonly waiting?: number;
  /** Share of the KV cache in use, 0 to 1. */
  readonly kvUsage?: number;
  /** Tokens that its KV cache holds. */
  readonly kvTokens?: number;
  /** Prompt tokens ever queried in and found in the prefix cache. */
  readonly cacheQueries?: number;
  readonly cacheHits?: number;
}

/**
 * The real reason why a call to an engine failed: the `cause` of the error that an engine throws. Its message is
 * for the operator's log and quotes no prompt.
 */
export class EngineFault extends Error {
  override readonly name = "EngineFault";
  /** Whether another server may succeed where this one failed. */
  readonly transient: boolean;
  /** Whether no connection could be made at all. */
  readonly unreachable: boolean;

  constructor(message: string, transient: boolean, cause?: unknown, unreachable = false) {
    super(message, { cause });
    this.transient = transient;
    this.unreachable = unreachable;
  }
}

/** A server's answer cannot be true: a fault of the server, whatever the request was. */
export class ImplausibleAnswer extends EngineFault {}

/**
 * One inference server, whatever its protocol. Every method throws `failure(Reason.…)`: ENGINE_FAILED
 * for a broken engine, OVERLOADED for a full one, CONTEXT_LENGTH_EXCEEDED, INPUT_TOO_LONG, TIMEOUT.
 * An error's `cause` says what really happened, for the log; its message is fit for a client.
 */
export interface Engine {
  /** Runs a generation. Ending the iteration or aborting the signal stops the engine at once. */
  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput>;
  /** Embeds inputs; never cuts one. */
  embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings>;
  /**
   * The exact number of prompt tokens, by the engine's own tokenizer. Undefined: the engine cannot tell. Throws
   * ENGINE_FAILED with an ImplausibleAnswer for a number that is no count.
   */
  countTokens(
    request: Pick<EngineRequest, "model" | "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** The models that the engine serves. */
  listModels(signal: AbortSignal): Promise<readonly EngineModel[]>;
  /** Resolves when the engine can take work. */
  checkHealth(signal: AbortSignal): Promise<void>;
  /** How busy it is. Undefined: the engine has no metrics. */
  readLoad(signal: AbortSignal): Promise<EngineLoad | undefined>;
  /** Frees connections and memory. */
  close(): Promise<void>;
}
