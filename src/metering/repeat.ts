import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";

/** Does a job again and again, with a pause after each time. A failure is logged. Returns the function that ends it. */
export function repeat(
  clock: Clock,
  pauseMs: number,
  logger: Logger,
  what: string,
  job: () => Promise<unknown>,
): () => void {
  let stop = () => {};
  let stopped = false;
  const next = () => {
    stop = clock.after(pauseMs, async () => {
      await job().catch((error: unknown) => logger.error({ error }, `could not ${what}`));
      if (!stopped) next();
    });
  };
  next();
  return () => {
    stopped = true;
    stop();
  };
}
