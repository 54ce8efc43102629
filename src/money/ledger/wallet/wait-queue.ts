import type { Clock } from "#lib/time/clock.ts";

/** A place in the queue. */
export interface Ticket {
  /**
   * Resolves with true when this ticket is the first and something has changed, with false when the time ran out
   * before.
   */
  turn(): Promise<boolean>;
  leave(): void;
}

/** Requests that wait for an account's money, served in the order of arrival. */
export class WaitQueue {
  readonly #clock: Clock;
  readonly #lookAgainMs: number;
  readonly #tickets: { wake: (() => void) | undefined; fresh: boolean }[] = [];

  /** The first ticket looks again after this many milliseconds even if this core knows of no change. */
  constructor(clock: Clock, lookAgainMs: number) {
    this.#clock = clock;
    this.#lookAgainMs = lookAgainMs;
  }

  get empty(): boolean {
    return this.#tickets.length === 0;
  }

  /** Takes the last place. The time to wait begins now. An abort rejects the turn. */
  enter(patienceMs: number, signal: AbortSignal): Ticket {
    const ticket: { wake: (() => void) | undefined; fresh: boolean } = { wake: undefined, fresh: true };
    this.#tickets.push(ticket);
    const deadline = this.#clock.monotonic() + patienceMs;
    return {
      turn: async () => {
        signal.throwIfAborted();
        if (ticket.fresh && this.#tickets[0] === ticket) {
          ticket.fresh = false;
          return true;
        }
        for (;;) {
          const left = deadline - this.#clock.monotonic();
          if (left <= 0) {
            return false;
          }
          const isFirst = this.#tickets[0] === ticket; // the others are woken when they become the first
          await this.#sleep(ticket, isFirst ? Math.min(left, this.#lookAgainMs) : left, signal);
          signal.throwIfAborted();
          ticket.fresh = false;
          if (this.#tickets[0] === ticket && this.#clock.monotonic() < deadline) {
            return true;
          }
        }
      },
      leave: () => {
        const at = this.#tickets.indexOf(ticket);
        this.#tickets.splice(at, 1);
        if (at === 0) {
          this.changed();
        }
      },
    };
  }

  /** Lets the first ticket look again. */
  changed(): void {
    const first = this.#tickets[0];
    if (first === undefined) {
      return;
    }
    first.fresh = true;
    first.wake?.();
  }

  #sleep(ticket: { wake: (() => void) | undefined }, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        ticket.wake = undefined;
        stop();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const stop = this.#clock.after(ms, wake);
      signal.addEventListener("abort", wake);
      ticket.wake = wake;
    });
  }
}
