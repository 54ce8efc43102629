import type { Sent } from "./send.ts";

/** How far a request is, and what it brought. */
export interface Run {
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly text: string;
  readonly thinking: string;
  readonly sent?: Sent;
  readonly error?: unknown;
}
