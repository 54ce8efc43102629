import type { Clock } from "../time/clock.ts";

/** Lets new work begin in its turn. */
export interface Intake {
  /** Undefined: it begins now. Otherwise resolves in its turn, to false when it is refused. */
  enter(): Promise<boolean> | undefined;
}

/** Dependencies of a bounded intake. */
export interface IntakeOptions {
  /** The longest wait for a turn, in milliseconds. */
  readonly maxWaitMs: number;
  readonly clock: Pick<Clock, "monotonic">;
  /** Runs a function in the next turn of the event loop, after all that has arrived was read. */
  readonly nextTurn?: (run: () => void) => void;
}

/**
 * Requests that begin in one turn. A request takes several turns, so that a turn also has the work of about as many
 * others: few milliseconds of it together. More would keep those that run from their ends.
 */
const beginningsATurn = 16;

/** A request that waits for its turn. */
interface Waiting {
  /** On the monotonic clock, in milliseconds. */
  readonly since: number;
  begin(): void;
}

/**
 * Bounds how many requests one turn of the event loop takes in, so that a burst is served one after the other instead of
 * all at once and late. The rest waits here, first come first served, where the wait can be seen: once the first one has
 * waited for too long, newcomers are refused at once, and those that wait already are still served in time.
 */
export class BoundedIntake implements Intake {
  readonly #maxWaitMs: number;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #nextTurn: (run: () => void) => void;
  #waiting: Waiting[] = [];
  #begun = 0;
  #isTurnAwaited = false;

  constructor({ maxWaitMs, clock, nextTurn = setImmediate }: IntakeOptions) {
    this.#maxWaitMs = maxWaitMs;
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** How long the first one has waited, in milliseconds. 0: none waits. */
  get waitMs(): number {
    const [first] = this.#waiting;
    return first === undefined ? 0 : this.#clock.monotonic() - first.since;
  }

  enter(): Promise<boolean> | undefined {
    this.#awaitTurn();
    if (this.#waiting.length === 0 && this.#begun < beginningsATurn) {
      this.#begun += 1;
      return undefined;
    }
    if (this.waitMs > this.#maxWaitMs) {
      return refused;
    }
    const since = this.#clock.monotonic();
    return new Promise((resolve) => this.#waiting.push({ since, begin: () => resolve(true) }));
  }

  #awaitTurn(): void {
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true;
      this.#nextTurn(this.#turn);
    }
  }

  readonly #turn = (): void => {
    this.#isTurnAwaited = false;
    const next = this.#waiting.splice(0, beginningsATurn);
    this.#begun = next.length;
    for (const { begin } of next) {
      begin();
    }
    if (next.length > 0) {
      this.#awaitTurn();
    }
  };
}

const refused = Promise.resolve(false);
