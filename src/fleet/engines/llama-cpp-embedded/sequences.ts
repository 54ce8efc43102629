import type { Context, Sequence } from "./binding.ts";

/** A sequence, and the salt of the prompt that it read last. */
export interface Seat {
  readonly sequence: Sequence;
  salt: string | undefined;
}

/** A context's sequences. Each request gets one, in the order of asking. */
export class Sequences {
  readonly #free: Seat[];
  readonly #waiting: ((seat: Seat) => void)[] = [];

  constructor(context: Context, count: number) {
    this.#free = Array.from({ length: count }, () => ({ sequence: context.getSequence(), salt: undefined }));
  }

  /** Waits for a sequence. Prefers one that read a prompt of the same salt, for its cached tokens. */
  async take(salt: string | undefined, signal: AbortSignal): Promise<Seat> {
    signal.throwIfAborted();
    const at = this.#free.findIndex((seat) => seat.salt === salt);
    const [free] = this.#free.splice(Math.max(0, at), 1);
    const seat = free ?? (await this.#wait(signal));
    if (seat.salt !== salt) {
      await this.#forget(seat); // another account must not be able to measure what the previous one has asked
      seat.salt = salt;
    }
    return seat;
  }

  /** Clears a sequence, or gives it back as it is. */
  async #forget(seat: Seat): Promise<void> {
    try {
      await seat.sequence.clearHistory();
    } catch (error) {
      this.release(seat);
      throw error;
    }
  }

  release(seat: Seat): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free.push(seat);
    } else {
      next(seat);
    }
  }

  #wait(signal: AbortSignal): Promise<Seat> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1);
        reject(signal.reason);
      };
      const grant = (seat: Seat) => {
        signal.removeEventListener("abort", leave);
        resolve(seat);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(grant);
    });
  }
}
