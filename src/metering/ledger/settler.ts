import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { MeteringObserver } from "../interface.ts";
import type { Journal } from "../journal/journal.ts";
import type { Charge, LedgerStore, SettleOutcome } from "../store/ledger-store.ts";

/** Where charges come one after the other, groups begin no closer to each other than this. */
const LINGER_MS = 5;
/** Most charges in one commit. */
const BATCH = 500;
/** A store slower than this has its charges promised by the journal instead. */
const PATIENCE_MS = 100;
/** Charges that may wait for the store before no request is admitted any more. */
const BACKLOG = 20_000;
const RETRY_MS = 200;

interface Waiting {
  charge: Charge;
  promised: boolean;
  /** Whether the store may have taken it without our knowing. */
  doubtful: boolean;
  readonly durable: () => void;
  readonly refused: (error: Error) => void;
}

/** What the ledger does with the outcomes. */
export interface SettlerEvents {
  /** The store has the charge, or had it before, or will never take it. */
  settled(charge: Charge, outcome: "stored" | "repeated" | "refused"): void;
  /** Slices of the charge are lost: makes another charge for the same tokens out of what is left. */
  fenced(charge: Charge): Promise<Charge>;
}

/** Is told how the store takes charges. */
export type SettlerObserver = Pick<MeteringObserver, "committed" | "refused">;

/**
 * Commits charges in groups. A charge is durable once the store has it or, when the store is slow
 * or away, once the journal has promised it; in that case it still goes to the store, however long
 * that takes, and the store takes it once.
 */
export class Settler {
  readonly #store: LedgerStore;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: SettlerEvents;
  readonly #observer: SettlerObserver;
  #queue: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #run: Promise<void> | undefined;
  /** When the last group began, by the monotonic clock, and whether charges came close to each other then. */
  #lastBegan = Number.NEGATIVE_INFINITY;
  #busy = false;
  /** Ends the lingering of charges that wait for others. */
  #stopLingering: (() => void) | undefined;
  #flushing = false;
  #closing = false;

  constructor(parts: {
    store: LedgerStore;
    journal: Journal;
    clock: Clock;
    logger: Logger;
    events: SettlerEvents;
    observer: SettlerObserver;
  }) {
    this.#store = parts.store;
    this.#journal = parts.journal;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#events = parts.events;
    this.#observer = parts.observer;
  }

  /** Whether so much is waiting that admitting more would be reckless. */
  get overdue(): boolean {
    return this.backlog >= BACKLOG;
  }

  /** Charges that wait for the store. */
  get backlog(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  /** Settles a charge; resolves when it is durable. Rejects with LEDGER_UNAVAILABLE when the store will never take it. */
  settle(charge: Charge): Promise<void> {
    return new Promise((durable, refused) => {
      this.#queue.push({ charge, promised: false, doubtful: false, durable, refused });
      this.#run ??= this.#commitAll();
    });
  }

  /** Commits what waits, without lingering. */
  async flush(): Promise<void> {
    this.#flushing = true;
    this.#stopLingering?.();
    await this.#run;
    this.#flushing = false;
  }

  /** Commits what waits. What a failing store does not take is left to the journal. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.flush();
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#linger();
      this.#lastBegan = this.#clock.monotonic();
      this.#inFlight = this.#queue.splice(0, BATCH);
      const stopPromising = this.#promiseEvery(PATIENCE_MS);
      await this.#commit(this.#inFlight);
      stopPromising();
      this.#busy = this.#inFlight.length > 1 || this.#queue.length > 0;
      this.#inFlight = [];
    }
    this.#run = undefined;
  }

  /**
   * Lets a group grow. A charge that comes alone goes to the store at once, and so does the next one after it; only
   * charges that came together or while others were on their way wait, because then more of them are to be expected,
   * and a commit costs much the same for one as for many.
   */
  async #linger(): Promise<void> {
    await undefined; // those that end in the same turn of the event loop
    const ms = this.#lastBegan + LINGER_MS - this.#clock.monotonic();
    if (!this.#busy || ms <= 0 || this.#queue.length >= BATCH || this.#flushing) return;
    await new Promise<void>((resolve) => {
      const stop = this.#clock.after(ms, resolve);
      this.#stopLingering = () => {
        stop();
        resolve();
      };
    });
    this.#stopLingering = undefined;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const since = this.#clock.monotonic();
        const outcomes = await this.#store.settle(batch.map(({ charge }) => charge));
        this.#observer.committed(batch.length, this.#clock.monotonic() - since);
        for (const [at, waiting] of batch.entries()) await this.#conclude(waiting, outcomes[at]);
        return;
      } catch (error) {
        for (const waiting of batch) waiting.doubtful = true;
        this.#observer.refused();
        this.#logger.error({ error, charges: batch.length, attempt }, "the store did not take a settlement");
        const impossible = this.#store.isViolation(error);
        if (impossible && batch.length === 1) return this.#refuse(batch[0], error);
        // One impossible charge must not keep the others of its group from being stored.
        if (impossible) {
          for (const waiting of batch) await this.#commit([waiting]);
          return;
        }
        if (this.#closing && attempt > 1) return this.#promise();
        await this.#pause(RETRY_MS);
      }
    }
  }

  async #conclude(waiting: Waiting, outcome: SettleOutcome | undefined): Promise<void> {
    if (outcome === "fenced") return this.#renew(waiting);
    // After a lost reply the store knows the charge already: it was this one.
    const repeated = outcome === "repeated" && !waiting.doubtful && !waiting.promised;
    this.#events.settled(waiting.charge, repeated ? "repeated" : "stored");
    waiting.durable();
  }

  /** Sends a fenced charge again, made anew. When that fails the store fences the old one again, and so on. */
  async #renew(waiting: Waiting): Promise<void> {
    try {
      waiting.charge = await this.#events.fenced(waiting.charge);
    } catch (error) {
      this.#logger.error({ error }, "a fenced charge could not be made anew");
      if (this.#closing) return this.#promise();
      await this.#pause(RETRY_MS);
    }
    this.#queue.push(waiting);
  }

  #refuse(waiting: Waiting | undefined, error: unknown): void {
    if (waiting === undefined) return;
    this.#logger.error({ error, charge: waiting.charge }, "a charge is impossible and was not stored");
    this.#events.settled(waiting.charge, "refused");
    waiting.refused(failure(Reason.LEDGER_UNAVAILABLE, "The usage could not be recorded.", {}, error));
  }

  /** Lets the callers go whom the store keeps waiting, as soon as the journal has promised their charges. */
  #promiseEvery(ms: number): () => void {
    const promise = async () => {
      await this.#promise();
      if (stop !== noop) stop = this.#promiseEvery(ms);
    };
    let stop = this.#clock.after(ms, () => void promise());
    return () => {
      stop();
      stop = noop;
    };
  }

  async #promise(): Promise<void> {
    const waiting = [...this.#inFlight, ...this.#queue].filter(({ promised }) => !promised);
    if (waiting.length === 0) return;
    if (!(await this.#journal.promise(waiting.map(({ charge }) => charge)))) return;
    for (const one of waiting) {
      one.promised = true;
      one.durable();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

const noop = () => {};
