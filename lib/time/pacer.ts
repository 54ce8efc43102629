import type { Clock } from "./clock.ts";

const leastPauseMs = 2;

/**
 * Returns a function that leaves time to other work: it pauses `share` times as long as the work took since its last
 * call. Once it has paused for `mostMs` in all, it pauses as long as the work took at most, so that the work ends.
 */
export function pacer(
  clock: Pick<Clock, "monotonic" | "after">,
  share: number,
  mostMs = Number.POSITIVE_INFINITY,
): () => Promise<void> {
  let since = clock.monotonic();
  let leftMs = mostMs;
  return async () => {
    const tookMs = clock.monotonic() - since;
    const pauseMs = Math.max(leastPauseMs, Math.min(share * tookMs, Math.max(tookMs, leftMs)));
    leftMs -= pauseMs;
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    since = clock.monotonic();
  };
}
