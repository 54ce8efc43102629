import type { Writable } from "node:stream";

/** Waits until a full stream can take more, or the call is over. */
export function drained(stream: Writable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    stream.on("drain", done);
    signal.addEventListener("abort", done);
    if (signal.aborted) {
      done();
    }
  });
}
