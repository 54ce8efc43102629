import type { Call } from "../dialect.ts";

export const eventStream = "text/event-stream; charset=utf-8";

/** The event that ends a stream. Empty when a fault leaves it out. */
export function doneEvent(call: Call): string {
  return call.fault.done === undefined ? "data: [DONE]\n\n" : "";
}

/** An event with a JSON document. */
export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
