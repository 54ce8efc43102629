import type { Clock } from "#lib/time/clock.ts";
import { type Linked, LinkedList } from "#lib/workarounds/linked-list.ts";
import type { Journal } from "../../../journal/journal.ts";
import { type Charge, withTold } from "../../../model/charges/charge.ts";
import type { Run } from "../../../model/charges/run.ts";

/** A charge that the store takes longer than this to store is promised by the journal instead. */
const patienceMs = 100;

/** A charge whose outcome is still open. */
export interface OpenCharge extends Linked<OpenCharge> {
  charge: Charge;
  /** The run that it is known by. The charge has another run id when it is for the rest of that run. */
  run: Run;
  promised: boolean;
  /** True when the store may have taken the charge although its reply was lost. */
  doubtful: boolean;
  /** Whether it was concluded before, and the store has lost it since. */
  readonly isAgain?: boolean;
  /** Lets the waiting caller continue, who is told this charge. Further calls do nothing. */
  durable: (charge: Charge) => void;
  refused: (error: Error) => void;
  /** Called when its slices are lost. Absent: it is made anew. */
  readonly fenced?: () => void;
  /** True once nothing is left to do for it. */
  concluded: boolean;
}

/**
 * Whether wallet and budget were told what became of a charge's money: the store had it, and has lost it since. Once it is
 * made anew, it has other money.
 */
export const isConcluded = ({ charge, run, isAgain = false }: OpenCharge): boolean => isAgain && charge === run;

/** All charges that wait for the store, and the journal's promises of them meanwhile. */
export class OpenCharges {
  readonly #journal: Pick<Journal, "gather" | "promise">;
  readonly #clock: Pick<Clock, "after">;
  readonly #promisesFirst: boolean;
  #size = 0;
  readonly #unpromised = new LinkedList<OpenCharge>();
  #promising = false;
  #emptied: (() => void)[] = [];

  /** `promisesFirst`: every charge is promised at once, so that nobody waits for the store. */
  constructor(journal: Pick<Journal, "gather" | "promise">, clock: Pick<Clock, "after">, promisesFirst: boolean) {
    this.#journal = journal;
    this.#clock = clock;
    this.#promisesFirst = promisesFirst;
  }

  get size(): number {
    return this.#size;
  }

  add(open: OpenCharge): void {
    this.#size++;
    if (!open.promised) {
      this.#unpromised.add(open);
      if (this.#promisesFirst && !this.#promising) {
        void this.#promiseAll();
      }
    }
  }

  delete(open: OpenCharge): void {
    if (open.concluded) {
      return;
    }
    open.concluded = true;
    this.#unpromised.delete(open);
    this.#size--;
    if (this.#size === 0 && this.#emptied.length > 0) {
      for (const resolve of this.#emptied.splice(0)) {
        resolve();
      }
    }
  }

  /** Resolves when no charge is left. */
  async emptied(): Promise<void> {
    while (this.#size > 0) {
      await new Promise<void>((resolve) => this.#emptied.push(resolve));
    }
  }

  /**
   * Promises all waiting charges in the journal, so that their callers need not wait for the store. Returns whether the
   * journal could.
   */
  async promise(): Promise<boolean> {
    const waiting = this.#unpromised.takeAll();
    if (waiting.length === 0) {
      return true;
    }
    const promised = waiting.map((open) => {
      const { charge, run } = open;
      open.charge = withTold(charge); // whatever becomes of it meanwhile costs no more
      open.run = run === charge ? open.charge : run; // one of the two grows old with it
      return open.charge;
    });
    if (!(await this.#journal.promise(promised))) {
      for (const open of waiting) {
        if (!open.concluded) {
          this.#unpromised.add(open);
        }
      }
      return false;
    }
    for (const [at, open] of waiting.entries()) {
      open.promised = true;
      open.durable(promised[at] as Charge);
      open.durable = ignore; // nothing of the caller grows old with the charge
      open.refused = ignore;
    }
    return true;
  }

  /**
   * Promises until nothing is left to promise. Charges that end in one turn, or come while the disk works, form a
   * group.
   */
  async #promiseAll(): Promise<void> {
    this.#promising = true;
    do {
      await this.#journal.gather();
    } while (this.#unpromised.size > 0 && (await this.promise()));
    this.#promising = false;
  }

  /** Promises charges that the work under way delays for long. Call the returned function when that work is done. */
  promiseWhileSlow(): () => void {
    let over = false;
    let stop = () => {};
    const promise = async () => {
      await this.promise();
      if (!over) {
        next();
      }
    };
    const next = () => {
      stop = this.#clock.after(patienceMs, () => void promise());
    };
    next();
    return () => {
      over = true;
      stop();
    };
  }
}

function ignore(): void {}
