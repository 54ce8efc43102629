import type { Sent } from "./send.ts";
import type { CallPiece } from "./surfaces.ts";

/** A tool that the model asks its caller to run. */
export interface ToolCall {
  /** The call's place in the answer. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

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

/** Streams bring a call in pieces: first its name, then its input bit by bit. */
export function addCalls(before: readonly ToolCall[], pieces: readonly CallPiece[]): readonly ToolCall[] {
  const calls = new Map(before.map((call) => [call.index, call]));
  for (const { index, id = "", name = "", input = "" } of pieces) {
    const known = calls.get(index);
    calls.set(index, {
      index,
      id: known?.id || id,
      name: known?.name || name,
      input: (known?.input ?? "") + input,
    });
  }
  return [...calls.values()];
}
