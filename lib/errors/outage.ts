import type { Logger } from "../logger.ts";
import type { Clock } from "../time/clock.ts";

/** The most kinds of errors that are told of in one outage: a kind whose text differs each time is no news. */
const mostKinds = 10;
/** Milliseconds after which an outage is told anew: nobody looks for its first line in a log of days. */
const anewMs = 3_600_000;

interface Dependencies {
  readonly logger: Logger;
  readonly clock: Pick<Clock, "monotonic">;
}

/**
 * Tells of work that fails again and again: each kind of error once an hour, whatever the number of failures, and once
 * that the work succeeds again.
 */
export class Outage {
  readonly #parts: Dependencies;
  readonly #failed: string;
  readonly #over: string | undefined;
  readonly #told = new Set<string>();
  /** When the first of them was told, by the monotonic clock. */
  #since = 0;

  /** `failed` and `over` are the messages of the log. Undefined `over`: no success shows that it is over. */
  constructor(parts: Dependencies, failed: string, over?: string) {
    this.#parts = parts;
    this.#failed = failed;
    this.#over = over;
  }

  /** The work has failed. The fields stand beside the error. */
  failed(error: unknown, fields: object = {}): void {
    const { logger, clock } = this.#parts;
    const kind = kindOf(error);
    const now = clock.monotonic();
    if (this.#told.size === 0 || now - this.#since >= anewMs) {
      this.#told.clear();
      this.#since = now;
    }
    if (this.#told.size < mostKinds && !this.#told.has(kind)) {
      this.#told.add(kind);
      logger.error({ error, ...fields }, this.#failed);
    }
  }

  /** The work has succeeded. */
  succeeded(): void {
    if (this.#told.size > 0 && this.#over !== undefined) {
      this.#told.clear();
      this.#parts.logger.info({}, this.#over);
    }
  }
}

/** What an error is told apart by: its text, and the driver's code where it has no text, as that of several addresses. */
function kindOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return `${code} ${error}`;
}
