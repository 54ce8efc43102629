import type { Clock } from "#lib/time/clock.ts";

/** The limits for slow readers. */
export interface ReaderLimits {
  /** The most bytes of one answer that may wait for its reader. */
  readonly answerBytes: number;
  /** Bytes a second that a reader must take while something waits for it, on average over `patienceMs`. */
  readonly minBytesPerSecond: number;
  readonly patienceMs: number;
}

/** The state of a reader, and what to do when it is too slow. */
interface Reading {
  /** Whether anything waits for the reader. */
  isBehind(): boolean;
  /** Called when the reader has been too slow for too long. */
  isOver(): void;
}

/** How much longer a reader may be slow. It loses the time in which it is behind, and earns time by what it takes. */
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

  /** The reader took this many bytes. */
  took(bytes: number): void {
    this.#taken += bytes;
  }

  /** Nothing waits for the reader. */
  caughtUp(): void {
    this.#caughtUp = true;
  }

  /** Starts to watch a reader that is behind, unless it is watched already. */
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

  /**
   * Checks repeatedly how much the reader has taken, until it is no longer behind. Costs one timer for each stream, not
   * for each message.
   */
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
