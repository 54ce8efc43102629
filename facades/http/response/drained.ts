import type { ServerResponse } from "node:http";

/** Resolves when the client has taken what was written, or has left. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (!response.writableNeedDrain || response.destroyed) {
      return resolve();
    }
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}
