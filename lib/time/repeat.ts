import { Outage } from "../errors/outage.ts";
import type { Logger } from "../logger.ts";
import type { Clock } from "./clock.ts";

/**
 * Runs a job again and again, with a pause before the first run and after each. The log tells of failures once an hour until it
 * succeeds again. Returns the function that ends it.
 */
export function repeat(
  clock: Clock,
  pauseMs: number,
  logger: Logger,
  what: string,
  job: () => Promise<unknown>,
  firstPauseMs = pauseMs,
): () => void {
  const outage = new Outage({ logger, clock }, `could not ${what}`, `could ${what} again`);
  let stop = () => {};
  let stopped = false;
  const run = async () => {
    await job().then(
      () => outage.succeeded(),
      (error: unknown) => outage.failed(error),
    );
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
