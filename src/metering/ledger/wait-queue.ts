import type { Clock } from "../../../lib/time/clock.ts";

/** A place in a line. */
export interface Place {
  /** Resolves when this place is the first and something has changed; false: the time ran out before. */
  turn(): Promise<boolean>;
  leave(): void;
}

/** Those who wait for an account's money, served in the order of their coming. */
export class Line {
  readonly #clock: Clock;
  readonly #lookAgainMs: number;
  readonly #places: { wake: (() => void) | undefined; fresh: boolean }[] = [];

  /** The first looks again after so many milliseconds even if nothing has changed that this core knows of. */
  constructor(clock: Clock, lookAgainMs: number) {
    this.#clock = clock;
    this.#lookAgainMs = lookAgainMs;
  }

  get empty(): boolean {
    return this.#places.length === 0;
  }

  /** Takes the last place. The time to wait runs from now on; an abort rejects the turn. */
  enter(patienceMs: number, signal: AbortSignal): Place {
    const place: { wake: (() => void) | undefined; fresh: boolean } = { wake: undefined, fresh: true };
    this.#places.push(place);
    const deadline = this.#clock.monotonic() + patienceMs;
    return {
      turn: async () => {
        signal.throwIfAborted();
        if (place.fresh && this.#places[0] === place) {
          place.fresh = false;
          return true;
        }
        for (;;) {
          const left = deadline - this.#clock.monotonic();
          if (left <= 0) return false;
          await this.#sleep(place, Math.min(left, this.#lookAgainMs), signal);
          signal.throwIfAborted();
          place.fresh = false;
          if (this.#places[0] === place && this.#clock.monotonic() < deadline) return true;
        }
      },
      leave: () => {
        const at = this.#places.indexOf(place);
        this.#places.splice(at, 1);
        if (at === 0) this.changed();
      },
    };
  }

  /** Lets the first look again. */
  changed(): void {
    const first = this.#places[0];
    if (first === undefined) return;
    first.fresh = true;
    first.wake?.();
  }

  #sleep(place: { wake: (() => void) | undefined }, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        place.wake = undefined;
        stop();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const stop = this.#clock.after(ms, wake);
      signal.addEventListener("abort", wake);
      place.wake = wake;
    });
  }
}
