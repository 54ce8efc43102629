import type { Logger } from "../logger.ts";

/** The most kinds of errors that are told of in one outage: a kind whose text differs each time is no news. */
const mostKinds = 10;

/**
 * Tells of work that fails again and again: each kind of error once, whatever the number of failures, and once that the
 * work succeeds again.
 */
export class Outage {
  readonly #logger: Logger;
  readonly #failed: string;
  readonly #over: string;
  readonly #told = new Set<string>();

  /** `failed` and `over` are the messages of the log. */
  constructor(logger: Logger, failed: string, over: string) {
    this.#logger = logger;
    this.#failed = failed;
    this.#over = over;
  }

  /** The work has failed. The fields stand beside the error. */
  failed(error: unknown, fields: object = {}): void {
    const kind = kindOf(error);
    if (this.#told.size < mostKinds && !this.#told.has(kind)) {
      this.#told.add(kind);
      this.#logger.error({ error, ...fields }, this.#failed);
    }
  }

  /** The work has succeeded. */
  succeeded(): void {
    if (this.#told.size > 0) {
      this.#told.clear();
      this.#logger.info({}, this.#over);
    }
  }
}

/** What an error is told apart by: its text, and the driver's code where it has no text, as that of several addresses. */
function kindOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return `${code} ${error}`;
}
