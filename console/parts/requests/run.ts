import type { Sent } from "./send.ts";
import type { ToolCall } from "./tool-call.ts";

/** How far a request is, and what it brought. */
export interface Run {
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly sent?: Sent;
  readonly error?: unknown;
}

export const begunRun: Run = { state: "running", text: "", thinking: "", calls: [] };
