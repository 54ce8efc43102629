import { toWiderNetwork } from "../net/network.ts";
import type { Clock } from "../time/clock.ts";

/** Lets new work begin in its turn. */
export interface Intake {
  /**
   * Undefined: it begins now. Otherwise resolves in its turn, to false when it is refused. `address`: tells the client's,
   * and is called only where it has to wait. `isPatient`: it is never refused.
   */
  enter(address: () => string, isPatient?: boolean): Promise<boolean> | undefined;
}

/** Dependencies of a bounded intake. */
export interface IntakeOptions {
  /** The longest wait for a turn, in milliseconds. */
  readonly maxWaitMs: number;
  readonly clock: Pick<Clock, "monotonic">;
  /** Runs a function in the next turn of the event loop, after all that has arrived was read. */
  readonly nextTurn?: (run: () => void) => void;
  /** Runs a function in this turn, once what has begun waits for something. */
  readonly afterwards?: (run: () => void) => void;
}

/**
 * Requests that begin in one turn. A request takes several turns, so that a turn also has the work of about as many
 * others: few milliseconds of it together. More would keep those that run from their ends.
 */
const beginningsATurn = 16;
/** Milliseconds of a turn after which none begins in it: code that runs for the first time takes ten times as long. */
const beginningMs = 4;

/** A request that waits for its turn. */
interface Waiting {
  /** On the monotonic clock, in milliseconds. */
  readonly since: number;
  begin(): void;
}

/** The requests of a network that wait. */
interface Line {
  /** First come, first served. */
  readonly waiting: Waiting[];
  /** When it went to the end of the round, on the monotonic clock. */
  queuedAt: number;
}

/**
 * Bounds how many requests one turn of the event loop takes in, so that a burst is served one after the other instead of
 * all at once and late. The rest waits here, where the wait can be seen: the networks around clients take turns, so that a
 * burst of one makes nobody else wait. Once the first request of a network has waited for too long, or a round of all
 * takes too long, newcomers are refused at once, and those that wait already are still served in time.
 */
export class BoundedIntake implements Intake {
  readonly #maxWaitMs: number;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #nextTurn: (run: () => void) => void;
  readonly #afterwards: (run: () => void) => void;
  /** By network, in the order of their turns. */
  readonly #lines = new Map<string, Line>();
  /** Of this turn. */
  #begun = 0;
  #since = 0;
  #isTurnAwaited = false;

  constructor({ maxWaitMs, clock, nextTurn = setImmediate, afterwards = afterMicrotasks }: IntakeOptions) {
    this.#maxWaitMs = maxWaitMs;
    this.#clock = clock;
    this.#nextTurn = nextTurn;
    this.#afterwards = afterwards;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** How long the one that came first has waited, in milliseconds. 0: none waits. */
  get waitMs(): number {
    const now = this.#clock.monotonic();
    return Math.max(0, ...[...this.#lines.values()].map(({ waiting: [first] }) => now - (first?.since ?? now)));
  }

  enter(address: () => string, isPatient = false): Promise<boolean> | undefined {
    this.#awaitTurn();
    if (this.#lines.size === 0 && this.#hasRoom) {
      this.#begun += 1;
      return undefined;
    }
    const network = toWiderNetwork(address());
    const now = this.#clock.monotonic();
    const line = this.#lines.get(network) ?? { waiting: [], queuedAt: now };
    if (!isPatient && this.#isLate(line, now)) {
      return refused;
    }
    this.#lines.set(network, line);
    return new Promise((resolve) => line.waiting.push({ since: now, begin: () => resolve(true) }));
  }

  /** Whether a newcomer has no turn soon, and the first of its network, or who is next, has waited for too long. */
  #isLate({ waiting, queuedAt }: Line, now: number): boolean {
    const [next] = this.#lines.values();
    const since = Math.min(waiting[0]?.since ?? now, next?.queuedAt ?? queuedAt);
    const ahead = (waiting.length + 1) * this.#lines.size;
    return ahead >= beginningsATurn && now - since > this.#maxWaitMs; // a turn may be long, and the next one is soon
  }

  /** Whether one more may begin in this turn. */
  get #hasRoom(): boolean {
    return this.#begun < beginningsATurn && this.#clock.monotonic() - this.#since < beginningMs;
  }

  #awaitTurn(): void {
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true;
      this.#since = this.#clock.monotonic();
      this.#nextTurn(this.#turn);
    }
  }

  readonly #turn = (): void => {
    this.#isTurnAwaited = false;
    this.#since = this.#clock.monotonic();
    this.#begun = 0;
    this.#beginNext();
  };

  readonly #beginNext = (): void => {
    if (this.#lines.size > 0 && this.#hasRoom) {
      this.#begun += 1;
      this.#takeNext()?.begin();
      this.#afterwards(this.#beginNext);
    } else if (this.#begun > 0) {
      this.#awaitTurn();
    }
  };

  /** Takes the request whose turn it is out of its line, which goes to the end of the round. */
  #takeNext(): Waiting | undefined {
    for (const [network, line] of this.#lines) {
      this.#lines.delete(network);
      const next = line.waiting.shift();
      if (line.waiting.length > 0) {
        line.queuedAt = this.#clock.monotonic();
        this.#lines.set(network, line);
      }
      return next;
    }
    return undefined;
  }
}

/** Node.js runs what is due next only once no microtask is left. */
function afterMicrotasks(run: () => void): void {
  queueMicrotask(() => process.nextTick(run));
}

const refused = Promise.resolve(false);
