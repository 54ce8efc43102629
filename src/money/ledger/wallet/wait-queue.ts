import type { Clock } from "#lib/time/clock.ts";

/** A place in the queue. */
export interface Ticket {
  /**
   * Resolves with true when it is this ticket's turn and something has changed, with false when the time ran out
   * before.
   */
  turn(): Promise<boolean>;
  /** Says what it waits for: the budget of its key, so that others pass it, or the account's money. */
  wait(forBudget: boolean): void;
  leave(): void;
}

interface Waiting {
  /** The budget that it spends from, too. Undefined: none. */
  readonly budgetId: string | undefined;
  wake: (() => void) | undefined;
  fresh: boolean;
  isPassed: boolean;
}

/**
 * Requests that wait for an account's money, served in the order of arrival. One that waits for its key's budget keeps
 * its place, and only requests of the same budget wait behind it.
 */
export class WaitQueue {
  readonly #clock: Clock;
  readonly #lookAgainMs: number;
  readonly #tickets: Waiting[] = [];

  /** Whose turn it is looks again after this many milliseconds even if this core knows of no change. */
  constructor(clock: Clock, lookAgainMs: number) {
    this.#clock = clock;
    this.#lookAgainMs = lookAgainMs;
  }

  get empty(): boolean {
    return this.#tickets.length === 0;
  }

  /** Whether it would be the turn of a request that came now. `budgetId`: the budget that it spends from, too. */
  isOpen(budgetId: string | undefined): boolean {
    if (this.empty) {
      return true; // nearly always, and every request asks
    }
    for (const { isPassed, budgetId: other } of this.#front()) {
      if (!isPassed || other === budgetId) {
        return false;
      }
    }
    return true;
  }

  /**
   * Takes the last place. The time to wait begins now. An abort rejects the turn. `budgetId`: the budget that the request
   * spends from, too.
   */
  enter(patienceMs: number, signal: AbortSignal, budgetId?: string): Ticket {
    const ticket: Waiting = { budgetId, wake: undefined, fresh: true, isPassed: false };
    this.#tickets.push(ticket);
    const deadline = this.#clock.monotonic() + patienceMs;
    return {
      turn: async () => {
        signal.throwIfAborted();
        if (ticket.fresh && this.#isNext(ticket)) {
          ticket.fresh = false;
          return true;
        }
        for (;;) {
          const left = deadline - this.#clock.monotonic();
          if (left <= 0) {
            return false;
          }
          // The others are woken when it becomes their turn.
          await this.#sleep(ticket, this.#isNext(ticket) ? Math.min(left, this.#lookAgainMs) : left, signal);
          signal.throwIfAborted();
          ticket.fresh = false;
          if (this.#isNext(ticket) && this.#clock.monotonic() < deadline) {
            return true;
          }
        }
      },
      wait: (forBudget) =>
        this.#wakeNextAfter(() => {
          ticket.isPassed = forBudget;
        }),
      leave: () => this.#wakeNextAfter(() => this.#tickets.splice(this.#tickets.indexOf(ticket), 1)),
    };
  }

  /** Lets those whose turn it is look again. */
  changed(): void {
    for (const ticket of [...this.#front()]) {
      call(ticket);
    }
  }

  /** Makes a change, and wakes those whose turn it is only since then. */
  #wakeNextAfter(change: () => void): void {
    const before = new Set(this.#front());
    change();
    for (const ticket of [...this.#front()]) {
      if (!before.has(ticket)) {
        call(ticket);
      }
    }
  }

  #isNext(ticket: Waiting): boolean {
    for (const next of this.#front()) {
      if (next === ticket) {
        return true;
      }
    }
    return false;
  }

  /** Whose turn it is: the first that waits for the account's money, and before it the first of each budget. */
  *#front(): Iterable<Waiting> {
    const lacking = new Set<string | undefined>();
    for (const ticket of this.#tickets) {
      if (lacking.has(ticket.budgetId)) {
        continue;
      }
      yield ticket;
      if (!ticket.isPassed) {
        return;
      }
      lacking.add(ticket.budgetId);
    }
  }

  #sleep(ticket: Waiting, ms: number, signal: AbortSignal): Promise<void> {
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

function call(ticket: Waiting): void {
  ticket.fresh = true;
  ticket.wake?.();
}
