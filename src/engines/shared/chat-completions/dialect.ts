import type { EngineLoad, EngineRequest } from "../../interface.ts";
import type { EngineName } from "../../names.ts";
import type { SamplingDialect } from "../sampling.ts";
import type { WireUsage } from "./usage.ts";

/** Fields of a request body. */
export type Fields = Record<string, unknown>;

/**
 * The differences of one OpenAI-compatible engine from the others. Requests carry the common fields and those that
 * the dialect adds, nothing else.
 */
export interface Dialect {
  readonly engine: EngineName;
  /** The field of an assistant's turn that gives its earlier thinking back. Undefined: the engine takes none. */
  readonly reasoningField?: "reasoning" | "reasoning_content";
  /** Its names for the fields of sampling, and the fields that it does not take. */
  readonly sampling: SamplingDialect;
  /** Whether chunks carry a running count. Where they do not, what breaks off is charged by its lower bound. */
  readonly countsAsItGoes: boolean;
  /** Fields that shape the prompt: the thinking switch, and the continuation of a last assistant turn. */
  readonly promptFields: (request: ThinkingRequest, continued: boolean) => Fields;
  /** Other fields that this engine alone takes: running usage, cache salt. */
  readonly fields: (request: EngineRequest) => Fields;
  /** Whether some versions repeat the last assistant turn in the answer that continues it. */
  readonly mayRepeatPrefill?: true;
  /** Whether the server may write on beyond a stop sequence: the answer is ended here then. */
  readonly mayIgnoreStops?: true;
  /** Reads the engine's own running count, where the common `usage` is absent from a chunk. */
  readonly readUsage?: (chunk: Fields) => WireUsage | undefined;
  /** Answers 200 when the engine can take work. */
  readonly healthPath: string;
  /** Asked when that answers with a failure: it may say nothing of the work. Undefined: it says it all. */
  readonly otherHealthPath?: string;
  /** Counts a prompt's tokens. Undefined: the engine cannot tell. */
  readonly tokenize?: (prompt: Fields) => TokenizeCall;
  /** The Prometheus metrics that tell the load. Undefined: it has none. */
  readonly metrics?: {
    readonly path: string;
    readonly names: MetricNames;
    /** Reads the tokens that the KV cache holds out of the page, where they are there. */
    readonly kvTokens?: (page: string) => number | undefined;
  };
  /** The calls of which the first that answers tells the tokens that the KV cache holds. Undefined: the metrics do, or nothing. */
  readonly kvCall?: { readonly paths: readonly string[]; readonly read: (answer: Fields) => number | undefined };
  /** The most inputs of one embeddings call. */
  readonly embedBatch: number;
  /** How vectors are asked for: base64 of their memory is a third of the text and exact. Either is read. */
  readonly embedFormat: "float" | "base64";
}

/** The part of a request that says how to think. */
export type ThinkingRequest = Pick<EngineRequest, "model" | "thinking" | "recipe">;

/**
 * A call that counts the tokens of a prompt. The prompt comes as a generation sends it: `model`, and
 * `prompt` or `messages` and what shapes them.
 */
export interface TokenizeCall {
  readonly path: string;
  readonly body: Fields;
  /** The field of the answer that holds the count, or the list of tokens. */
  readonly field: string;
}

/** Names of the metrics that tell an engine's load; several samples of a name add up. */
export type MetricNames = Partial<Record<keyof EngineLoad, string>>;
