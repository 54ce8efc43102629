import type { Clock } from "#lib/time/clock.ts";

/** The pause before the second attempt. Each further pause is twice as long, up to the longest. */
const firstRetryMs = 200;

/** Pauses between attempts, each longer than the one before. All end when the ledger closes. */
export class Pauses {
  readonly #clock: Pick<Clock, "after">;
  readonly #ends = new Set<() => void>();
  #over = false;

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** True when no further attempt is to be made. */
  get over(): boolean {
    return this.#over;
  }

  /** Waits before the next attempt. Does not wait once `end` was called. */
  pause(attempt: number, longestMs: number): Promise<void> {
    if (this.#over) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = () => {
        stop();
        this.#ends.delete(end);
        resolve();
      };
      const ms = Math.min(firstRetryMs * 2 ** Math.min(attempt - 1, 10), longestMs);
      const stop = this.#clock.after(ms, end);
      this.#ends.add(end);
    });
  }

  /** Ends all pauses, current and future. */
  end(): void {
    this.#over = true;
    for (const end of this.#ends) {
      end();
    }
  }
}
