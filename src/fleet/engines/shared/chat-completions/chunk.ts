import type { ToolCallDelta } from "../answer/tool-calls.ts";
import type { WireUsage } from "./usage.ts";

/** The parts of a streamed chunk that are read. */
export interface Chunk {
  readonly error?: unknown;
  /** "error" where the chunk itself is an error. */
  readonly object?: string;
  readonly usage?: WireUsage | null;
  readonly choices?: readonly Choice[];
}

/** A chunk's piece of an answer. A chunk has one, or none beside the final usage. */
export interface Choice {
  readonly delta?: Delta | null;
  /** Of `/v1/completions`. */
  readonly text?: string | null;
  readonly finish_reason?: string | null;
}

/** The piece of a chat answer in a chunk. */
export interface Delta {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
  readonly function_call?: ToolCallDelta["function"];
}
