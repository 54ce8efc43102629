import type { Logger } from "../logger.ts";
import type { Clock } from "./clock.ts";

/**
 * Runs a job again and again, with a pause before the first run and after each. A failure is logged. Returns the
 * function that ends it.
 */
export function repeat(
  clock: Clock,
  pauseMs: number,
  logger: Logger,
  what: string,
  job: () => Promise<unknown>,
  firstPauseMs = pauseMs,
): () => void {
  let stop = () => {};
  let stopped = false;
  const run = async () => {
    await job().catch((error: unknown) => logger.error({ error }, `could not ${what}`));
    if (!stopped) {
      next(pauseMs);
    }
  };
  const next = (ms: number) => {
    stop = clock.after(ms, () => void run());
  };
  next(firstPauseMs);
  return () => {
    stopped = true;
    stop();
  };
}
