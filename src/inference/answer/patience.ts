import type { Clock } from "../../../lib/time/clock.ts";

/** The limits for slow readers. */
export interface ReaderLimits {
  /** Bytes of one answer that may wait for its reader. */
  readonly answerBytes: number;
  /** Bytes a second that a reader has to take while something waits for it, over `patienceMs`. */
  readonly minBytesPerSecond: number;
  readonly patienceMs: number;
}

/** The questions and the callback of somebody who hands text to a reader. */
interface Reading {
  /** Whether anything waits for the reader. */
  isBehind(): boolean;
  /** The reader has been too slow for too long. */
  isOver(): void;
}

/** How much longer one reader may be slow: it loses the time in which it is behind, and earns by what it takes. */
export class Patience {
  readonly #limits: ReaderLimits;
  readonly #clock: Pick<Clock, "after">;
  readonly #reading: Reading;
  /** How much longer the reader may be behind, in milliseconds. */
  #credit: number;
  #taken = 0;
  #caughtUp = false;
  #stopTimer: (() => void) | undefined;

  constructor(limits: ReaderLimits, clock: Pick<Clock, "after">, reading: Reading) {
    this.#limits = limits;
    this.#clock = clock;
    this.#reading = reading;
    this.#credit = limits.patienceMs;
  }

  /** Notes that the reader took so many bytes. */
  took(bytes: number): void {
    this.#taken += bytes;
  }

  /** Notes that nothing waits for the reader. */
  caughtUp(): void {
    this.#caughtUp = true;
  }

  /** Begins to watch a reader that is behind, unless it is watched already. */
  watch(): void {
    if (this.#stopTimer === undefined) {
      this.#startAnew();
      this.#tick();
    }
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Looks again and again how much a reader that was ever behind has taken: one timer a stream, not one a message. */
  #tick(): void {
    const { patienceMs, minBytesPerSecond } = this.#limits;
    const tickMs = patienceMs / 4;
    this.#stopTimer = this.#clock.after(tickMs, () => {
      this.#stopTimer = undefined;
      if (!this.#reading.isBehind()) {
        this.#credit = patienceMs;
        return;
      }
      const earned = (this.#taken / minBytesPerSecond) * 1000;
      this.#credit = this.#caughtUp ? patienceMs : Math.min(patienceMs, this.#credit - tickMs + earned);
      this.#startAnew();
      if (this.#credit > 0) {
        this.#tick();
      } else {
        this.#reading.isOver();
      }
    });
  }

  #startAnew(): void {
    this.#caughtUp = false;
    this.#taken = 0;
  }
}
