import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FinishReason, GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { EngineName } from "#lib/inference/engine-names.ts";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { TraceContext } from "#lib/rpc/trace-context.ts";

/** A request to generate. It is final: defaults are applied and limits are clamped. */
export interface EngineRequest {
  /**
   * Names the run to the engine and in its log. It is unique, since engines identify and stop requests by it. Request
   * ids are not unique: two accounts may choose the same.
   */
  readonly runId: string;
  /** The model by the engine's own name. */
  readonly model: string;
  /** Turns for the chat template, or plain text to be continued. */
  readonly prompt:
    | { readonly case: "conversation"; readonly value: Conversation }
    | { readonly case: "text"; readonly value: string };
  /** The most tokens to produce, at least 1. */
  readonly maxOutputTokens: number;
  readonly sampling: Sampling;
  readonly stopSequences: readonly string[];
  /** Nobody reads the answer before it is complete, so that it may come in larger pieces. */
  readonly gathered?: boolean;
  /** Whether to think. Undefined: the model has no switch, or its default applies. */
  readonly thinking?: EngineThinking;
  /** How the model takes the switch, and whether `<think>` blocks have to be split off its text. */
  readonly recipe: ThinkingRecipe;
  /** Separates accounts in the engine's prefix cache. Undefined: cached prefixes are shared. */
  readonly cacheSalt?: string;
  /** The rank in the engine's own queue. Undefined: the engine has no ranks. */
  readonly priority?: ServiceClass;
  /** Passed on, so that the engine's spans become children of ours. Undefined: nothing is traced. */
  readonly trace?: TraceContext;
}

/** The state of the thinking switch. `deepest` is set on models with several depths only. */
export interface EngineThinking {
  readonly enabled: boolean;
  readonly deepest: boolean;
}

/** How a model is told to think, from its configuration. */
export interface ThinkingRecipe {
  readonly mode: "none" | "always" | "default_off" | "default_on";
  readonly depths: boolean;
  /** `chat_template_kwargs`: as template variables. `reasoning_effort`: as that field. */
  readonly switch: "chat_template_kwargs" | "reasoning_effort";
}

/** The tokens that the engine has counted so far. The last value is billed. */
export interface EngineUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  /**
   * The counts are a lower bound: the engine counts at the end, which has not come. Only the price of an answer that
   * broke off may depend on it. Absent: the engine's own count.
   */
  readonly isLowerBound?: true;
}

/**
 * An engine's output since the previous one. The first output of a stream means that the engine has begun. `finish` is
 * set on the last output only. Outputs that arrive in one socket read are merged.
 */
export interface EngineOutput {
  /** Reasoning, text and tool-call events only. The core itself sends started and finished. */
  readonly events: readonly GenerationEvent[];
  /** The latest running count. Undefined: nothing new was counted. */
  readonly usage?: EngineUsage;
  readonly finish?: FinishReason;
  /** A reported value that cannot be a count, for the log. Undefined: none. */
  readonly implausible?: string;
}

/**
 * Engines that may accept a prompt beyond the configured context, and neither count it in advance nor refuse it: the
 * software behind the common API is unknown.
 */
export const unboundedEngines: readonly EngineName[] = ["openai"];

/** A request to embed. */
export interface EngineEmbedRequest {
  /** Names the call to the engine and in its log. Unique. */
  readonly runId: string;
  readonly model: string;
  readonly inputs: readonly string[];
  /** Tokens that the model is known to add to each input, such as those of a task prefix. Undefined: unknown. */
  readonly templateTokens?: number;
  /** Passed on, so that the engine's spans become children of ours. Undefined: nothing is traced. */
  readonly trace?: TraceContext;
}

/** One vector for each input, in input order, as the engine returned them, and the tokens that it counted. */
export interface EngineEmbeddings {
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
}

/** A model as the engine lists it. */
export interface EngineModel {
  readonly id: string;
  /** Undefined: the engine does not report it. */
  readonly contextLength?: number;
  /** The kind of model. Undefined: the engine does not report it. */
  readonly kind?: "generation" | "embedding";
}

/** An engine's load by its own metrics. Undefined fields: the engine does not report them. */
export interface EngineLoad {
  readonly running?: number;
  readonly waiting?: number;
  /** The part of the KV cache in use, 0 to 1. */
  readonly kvUsage?: number;
  /** The size of its KV cache in tokens. */
  readonly kvTokens?: number;
  /** Prompt tokens ever looked up in the prefix cache, and those found there. */
  readonly cacheQueries?: number;
  readonly cacheHits?: number;
}

/**
 * The real reason why a call to an engine failed. It is the `cause` of the error that an engine throws. Its message is
 * for the operator's log and quotes no prompt.
 */
export class EngineFault extends Error {
  override readonly name = "EngineFault";
  /** Whether another server may succeed. */
  readonly transient: boolean;
  /** Whether the connection itself failed. */
  readonly unreachable: boolean;

  constructor(message: string, transient: boolean, cause?: unknown, unreachable = false) {
    super(message, { cause });
    this.transient = transient;
    this.unreachable = unreachable;
  }
}

/** A server's answer is impossible: a fault of the server, whatever the request was. */
export class ImplausibleAnswer extends EngineFault {}

/** A server embedded an input that is longer than the model takes, perhaps cut. The request's fault, not the server's. */
export class UnrefusedInput extends EngineFault {}

/**
 * One inference server, whatever its protocol. Every method throws `failure(Reason.…)`: ENGINE_FAILED for a broken
 * engine, OVERLOADED for a full one, CONTEXT_LENGTH_EXCEEDED, INPUT_TOO_LONG, TIMEOUT. An error's message is fit for a
 * client; its `cause` says what really happened, for the log.
 */
export interface Engine {
  /** Runs a generation. Ending the iteration or aborting the signal stops the engine at once. */
  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput>;
  /** Embeds inputs. Never truncates an input: one that may have been cut is refused with an UnrefusedInput. */
  embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings>;
  /**
   * Counts prompt tokens exactly, with the engine's own tokenizer. Undefined: the engine cannot count. Throws
   * ENGINE_FAILED with an ImplausibleAnswer for a number that cannot be a count.
   */
  countTokens(
    request: Pick<EngineRequest, "model" | "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** The models that the engine serves. */
  listModels(signal: AbortSignal): Promise<readonly EngineModel[]>;
  /** Resolves when the engine can take work. */
  checkHealth(signal: AbortSignal): Promise<void>;
  /** Reads the engine's load. Undefined: the engine has no metrics. */
  readLoad(signal: AbortSignal): Promise<EngineLoad | undefined>;
  /** Frees connections and memory. */
  close(): Promise<void>;
}
