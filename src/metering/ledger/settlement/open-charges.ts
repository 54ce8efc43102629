import type { Clock } from "../../../../lib/time/clock.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Charge } from "../../store/ledger-store.ts";
import type { Run } from "../run.ts";

/** A charge until it is known what becomes of it. */
export interface OpenCharge {
  charge: Charge;
  /** The run that it is known by; its charge has another one when it is of the rest of a run. */
  readonly run: Run;
  promised: boolean;
  /** Whether the store may have taken it without our knowing. */
  doubtful: boolean;
  /** Lets go who waits for it. Called again it does nothing. */
  readonly durable: () => void;
  readonly refused: (error: Error) => void;
  /** Is told when its slices are lost. Absent: it is made anew. */
  readonly fenced?: () => void;
}

/** All charges that wait for the store, and what the journal promises of them while they do. */
export class OpenCharges {
  readonly #journal: Pick<Journal, "promise">;
  readonly #clock: Pick<Clock, "after">;
  readonly #open = new Set<OpenCharge>();
  #emptied: (() => void)[] = [];

  constructor(journal: Pick<Journal, "promise">, clock: Pick<Clock, "after">) {
    this.#journal = journal;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  add(open: OpenCharge): void {
    this.#open.add(open);
  }

  delete(open: OpenCharge): void {
    this.#open.delete(open);
    if (this.#open.size === 0 && this.#emptied.length > 0) {
      for (const resolve of this.#emptied.splice(0)) {
        resolve();
      }
    }
  }

  /** Resolves when none is left. */
  async emptied(): Promise<void> {
    while (this.#open.size > 0) {
      await new Promise<void>((resolve) => this.#emptied.push(resolve));
    }
  }

  /** Lets the callers go whom the store keeps waiting, as soon as the journal has promised their charges. */
  async promise(): Promise<void> {
    const waiting = [...this.#open].filter(({ promised }) => !promised);
    if (waiting.length === 0 || !(await this.#journal.promise(waiting.map(({ charge }) => charge)))) {
      return;
    }
    for (const one of waiting) {
      one.promised = true;
      one.durable();
    }
  }

  /** Promises over and over, until the returned function is called. */
  promiseEvery(ms: number): () => void {
    let over = false;
    let stop = () => {};
    const promise = async () => {
      await this.promise();
      if (!over) {
        next();
      }
    };
    const next = () => {
      stop = this.#clock.after(ms, () => void promise());
    };
    next();
    return () => {
      over = true;
      stop();
    };
  }
}
