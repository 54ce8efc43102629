import type { Sent } from "./send.ts";
import type { ToolCall } from "./tool-call.ts";

/** A request's state, and its answer so far. */
export interface Run {
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly sent?: Sent;
  readonly error?: unknown;
}

export const begunRun: Run = { state: "running", text: "", thinking: "", calls: [] };
