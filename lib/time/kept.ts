import type { Clock } from "./clock.ts";

/** Reads something at most once in so many milliseconds, however many ask. A failure is not kept. */
export function keep<T>(clock: Pick<Clock, "monotonic">, ms: number, read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    if (kept === undefined || clock.monotonic() >= until) {
      const reading = read();
      kept = reading;
      until = clock.monotonic() + ms;
      reading.catch(() => {
        if (kept === reading) {
          kept = undefined;
        }
      });
    }
    return kept;
  };
}
