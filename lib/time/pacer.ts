import type { Clock } from "./clock.ts";

const leastPauseMs = 2;

/**
 * Returns a function that leaves time to other work: it pauses `share` times as long as the work took since its last
 * call.
 */
export function pacer(clock: Pick<Clock, "monotonic" | "after">, share: number): () => Promise<void> {
  let since = clock.monotonic();
  return async () => {
    const pauseMs = Math.max(leastPauseMs, share * (clock.monotonic() - since));
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    since = clock.monotonic();
  };
}
