import type { EngineName } from "#lib/inference/engine-names.ts";
import type { EngineLoad, EngineRequest } from "../../interface.ts";
import type { SamplingDialect } from "../sampling.ts";
import type { WireUsage } from "./usage.ts";

/** Fields of a request body. */
export type Fields = Record<string, unknown>;

/**
 * How one OpenAI-compatible engine differs from the others. Requests carry the common fields and those that the dialect
 * adds, nothing else.
 */
export interface Dialect {
  readonly engine: EngineName;
  /** The field that returns an assistant turn's earlier thinking to the engine. Undefined: the engine takes none. */
  readonly reasoningField?: "reasoning" | "reasoning_content";
  /** The engine's names for the sampling fields, and the fields that it does not take. */
  readonly sampling: SamplingDialect;
  /** Whether chunks carry a running count. Without one, a broken-off answer is charged by its lower bound. */
  readonly countsAsItGoes: boolean;
  /** Fields that shape the prompt: the thinking switch, and the continuation of a last assistant turn. */
  readonly promptFields: (request: ThinkingRequest, continued: boolean) => Fields;
  /** Other fields that only this engine takes, such as running usage and the cache salt. */
  readonly fields: (request: EngineRequest) => Fields;
  /** Whether some versions refuse `parallel_tool_calls`: it is not sent. */
  readonly mayRefuseParallelToolCalls?: true;
  /** Whether some versions repeat the last assistant turn in the answer that continues it. */
  readonly mayRepeatPrefill?: true;
  /** Whether the server may write on beyond a stop sequence: the answer is then ended on our side. */
  readonly mayIgnoreStops?: true;
  /** Reads the engine's own running count from a chunk without the common `usage`. */
  readonly readUsage?: (chunk: Fields) => WireUsage | undefined;
  /** Answers 200 when the engine can take work. */
  readonly healthPath: string;
  /** Asked when `healthPath` fails but may not reflect the engine's health. Undefined: `healthPath` is reliable. */
  readonly otherHealthPath?: string;
  /** Counts a prompt's tokens. Undefined: the engine cannot count. */
  readonly tokenize?: (prompt: Fields) => TokenizeCall;
  /** The Prometheus metrics of the load. Undefined: the engine has none. */
  readonly metrics?: {
    readonly path: string;
    readonly names: MetricNames;
    /** Reads the size of the KV cache in tokens from the page. Undefined: the page does not have it. */
    readonly kvTokens?: (page: string) => number | undefined;
  };
  /**
   * Calls that report the size of the KV cache in tokens: the first that answers counts. Undefined: the metrics report
   * it, or nothing does.
   */
  readonly kvCall?: { readonly paths: readonly string[]; readonly read: (answer: Fields) => number | undefined };
  /** The most inputs of one embeddings call. */
  readonly embedBatch: number;
  /** The requested format of vectors: base64 of their memory is exact, in a third of the text. Both are read. */
  readonly embedFormat: "float" | "base64";
}

/** The part of a request that says how to think. */
export type ThinkingRequest = Pick<EngineRequest, "model" | "thinking" | "recipe">;

/**
 * A call that counts a prompt's tokens. The prompt has the fields of a generation: `model`, `prompt` or `messages`, and
 * what shapes them.
 */
export interface TokenizeCall {
  readonly path: string;
  readonly body: Fields;
  /** The answer's field with the count, or with the list of tokens. */
  readonly field: string;
}

/** The names of the metrics of an engine's load. Several samples of a name add up. */
export type MetricNames = Partial<Record<keyof EngineLoad, string>>;
