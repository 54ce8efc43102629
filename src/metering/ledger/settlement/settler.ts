import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../../lib/errors/failure.ts";
import type { Logger } from "../../../../lib/logger.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import { isUnreachable } from "../../../storage/unreachable.ts";
import type { DeadLetters } from "../../dead-letters/dead-letters.ts";
import type { MeteringObserver } from "../../interface.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Charge, LedgerStore, SettleOutcome, StoredCharge } from "../../store/ledger-store.ts";
import { type Run, runKey } from "../run.ts";
import { findFault } from "./charge-faults.ts";
import { isLasting } from "./lasting.ts";
import { toRest } from "./run-rest.ts";

/** Where charges come one after the other, groups begin no closer to each other than this. */
const lingerMs = 5;
/** Most charges in one commit. */
const batchSize = 500;
/** A store slower than this has its charges promised by the journal instead. */
const patienceMs = 100;
/** Charges that may wait for the store before no request is admitted any more. */
const maxBacklog = 20_000;
/** The pause before a second attempt. Each further one is twice as long, up to the last. */
const firstRetryMs = 200;
/** The store is asked again so often while it takes nothing. */
const lastRetryMs = 1000;
/** A charge by itself is tried again so often; it holds nobody up. */
const lastAloneMs = 5000;
/** A charge that could not be made so often, with the store in reach, is given up: after a minute and a half. */
const mostAttempts = 20;

interface Waiting {
  charge: Charge;
  /** The run that it is known by; its charge has another one when it is of the rest of a run. */
  readonly run: Run;
  promised: boolean;
  /** Whether the store may have taken it without our knowing. */
  doubtful: boolean;
  readonly durable: () => void;
  readonly refused: (error: Error) => void;
  /** Is told when its slices are lost. Absent: it is made anew. */
  readonly fenced?: () => void;
}

/** What the ledger does with the outcomes. */
export interface SettlerEvents {
  /**
   * The store has the charge; or another one of its run, that a successor made of the same tokens (covered) or that nobody
   * knows of (repeated); or it was given up and is among the dead letters (refused). The run is what it was settled as.
   */
  settled(charge: Charge, outcome: "stored" | "covered" | "repeated" | "refused", run: Run): void;
  /** The store has another charge of the run: what the lines of this one paid is free again, and its rest is charged. */
  superseded(charge: Charge): void;
  /**
   * Slices of the charge are lost, or it never had any: makes a charge for the same tokens out of what is left.
   * Throws ACCOUNT_NOT_FOUND, MODEL_NOT_FOUND, INVALID_ARGUMENT, LEDGER_UNAVAILABLE.
   */
  fenced(charge: Charge): Promise<Charge>;
}

/** Is told how the store takes charges. */
export type SettlerObserver = Pick<MeteringObserver, "committed" | "refused">;

/**
 * Commits charges in groups. A charge is durable once the store has it or, when the store is slow
 * or away, once the journal has promised it; in that case it still goes to the store, however long
 * that takes, and the store takes it once. A charge that can never be made does not hold up the others, and is not
 * tried for ever: it is put among the dead letters, and only then does the journal forget it.
 */
export class Settler {
  readonly #store: LedgerStore;
  readonly #journal: Journal;
  readonly #deadLetters: Pick<DeadLetters, "put">;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: SettlerEvents;
  readonly #observer: SettlerObserver;
  #queue: Waiting[] = [];
  #inFlight: Waiting[] = [];
  /** Charges that are made anew or given up, one by one, with what does it. */
  readonly #troubled = new Map<Waiting, Promise<void>>();
  #run: Promise<void> | undefined;
  /** When the last group began, by the monotonic clock, and whether charges came close to each other then. */
  #lastBegan = Number.NEGATIVE_INFINITY;
  #busy = false;
  /** Ends the lingering of charges that wait for others. */
  #stopLingering: (() => void) | undefined;
  /** End the pauses between attempts. */
  readonly #pauses = new Set<() => void>();
  #flushing = false;
  #closing = false;

  constructor(parts: {
    store: LedgerStore;
    journal: Journal;
    deadLetters: Pick<DeadLetters, "put">;
    clock: Clock;
    logger: Logger;
    events: SettlerEvents;
    observer: SettlerObserver;
  }) {
    this.#store = parts.store;
    this.#journal = parts.journal;
    this.#deadLetters = parts.deadLetters;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#events = parts.events;
    this.#observer = parts.observer;
  }

  /** Whether so much is waiting that admitting more would be reckless. */
  get overdue(): boolean {
    return this.backlog >= maxBacklog;
  }

  /** Charges that wait for the store. */
  get backlog(): number {
    return this.#queue.length + this.#inFlight.length + this.#troubled.size;
  }

  /**
   * Settles a charge; resolves when it is durable. Rejects with LEDGER_UNAVAILABLE when it was given up: it is durable then,
   * too, but no receipt yet.
   */
  settle(charge: Charge): Promise<void> {
    return new Promise((durable, refused) => {
      this.#enqueue({ charge, run: charge, promised: false, doubtful: false, durable, refused });
    });
  }

  /**
   * Settles a charge that the journal has promised. Resolves when nothing is left to be done, or with "fenced": its
   * slices are lost, and it has to be made anew.
   */
  recover(charge: Charge): Promise<"settled" | "fenced"> {
    return new Promise((resolve) => {
      const settled = () => resolve("settled");
      const fenced = () => resolve("fenced");
      const known = { charge, run: charge, promised: true, doubtful: true };
      const waiting = { ...known, durable: settled, refused: settled, fenced };
      const fault = findFault(charge);
      if (fault === undefined) {
        this.#enqueue(waiting);
      } else {
        this.#trouble(waiting, this.#giveUp(waiting, fault));
      }
    });
  }

  /** Makes a charge that the journal knows, for the tokens that it says, and settles it. Resolves when nothing is left to be done. */
  remake(charge: Charge): Promise<void> {
    return new Promise((resolve) => {
      const known = { charge, run: charge, promised: true, doubtful: true };
      const waiting = { ...known, durable: resolve, refused: () => resolve() };
      const fault = findFault(charge);
      this.#trouble(waiting, fault === undefined ? this.#renew(waiting) : this.#giveUp(waiting, fault));
    });
  }

  #enqueue(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#run ??= this.#commitAll();
  }

  #trouble(waiting: Waiting, work: Promise<void>): void {
    const done = work.finally(() => {
      if (this.#troubled.get(waiting) === done) {
        this.#troubled.delete(waiting);
      }
    });
    this.#troubled.set(waiting, done);
  }

  /** Commits what waits. What a failing store does not take, or what cannot be made anew, is left to the journal. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#flushing = true;
    this.#stopLingering?.();
    for (const end of this.#pauses) {
      end();
    }
    while (this.#run !== undefined || this.#troubled.size > 0) {
      await Promise.all([this.#run, ...this.#troubled.values()]);
    }
    this.#flushing = false;
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#linger();
      this.#lastBegan = this.#clock.monotonic();
      this.#inFlight = this.#queue.splice(0, batchSize);
      const stopPromising = this.#promiseEvery(patienceMs);
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
    const ms = this.#lastBegan + lingerMs - this.#clock.monotonic();
    if (!this.#busy || ms <= 0 || this.#queue.length >= batchSize || this.#flushing) {
      return;
    }
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
        for (const [at, waiting] of batch.entries()) {
          this.#conclude(waiting, outcomes[at]);
        }
        return;
      } catch (error) {
        for (const waiting of batch) {
          waiting.doubtful = true;
        }
        this.#observer.refused();
        this.#logger.error({ error, charges: batch.length, attempt }, "the store did not take a settlement");
        if (this.#store.isViolation(error) || batch.some(({ charge }) => findFault(charge) !== undefined)) {
          return this.#commitEach(batch, error);
        }
        if (this.#closing && attempt > 1) {
          return this.#promise();
        }
        await this.#pause(attempt, lastRetryMs);
      }
    }
  }

  /** One impossible charge must not keep the others of its group from being stored. */
  async #commitEach(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      this.#trouble(only, this.#giveUp(only, findFault(only.charge) ?? error));
    } else {
      for (const waiting of batch) {
        await this.#commit([waiting]);
      }
    }
  }

  #conclude(waiting: Waiting, outcome: SettleOutcome | undefined): void {
    if (outcome === "fenced") {
      if (waiting.fenced === undefined) {
        this.#trouble(waiting, this.#renew(waiting));
      } else {
        waiting.fenced();
      }
      return;
    }
    if (outcome === "repeated") {
      this.#trouble(waiting, this.#settleRest(waiting));
      return;
    }
    this.#events.settled(waiting.charge, "stored", waiting.run);
    waiting.durable();
  }

  /**
   * The store has a charge of the run: this very one, when the reply to it was lost, or one that a successor of this core
   * made of what it knew, and then the rest is charged.
   */
  async #settleRest(waiting: Waiting): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { charge } = waiting;
        const stored = (await this.#store.settled([charge])).get(runKey(charge));
        if (stored === undefined) {
          return this.#enqueue(waiting); // the database has failed over into the past meanwhile
        }
        const rest = toRest(charge, stored);
        if (rest === undefined) {
          return this.#concludeRepeated(waiting, stored);
        }
        this.#logger.warn({ requestId: charge.requestId, charged: stored }, "the rest of a run is charged");
        this.#events.superseded(charge);
        waiting.charge = rest;
        return this.#renew(waiting);
      } catch (error) {
        this.#logger.error({ error, attempt }, "the store could not say what it had charged of a run");
      }
      await this.#promise();
      if (this.#closing) {
        return;
      }
      await this.#pause(attempt, lastAloneMs);
    }
  }

  #concludeRepeated({ charge, run, doubtful, promised, durable }: Waiting, stored: StoredCharge): void {
    const { inputTokens, outputTokens, status } = charge;
    const same = stored.inputTokens === inputTokens && stored.outputTokens === outputTokens && stored.status === status;
    const mayBeOurs = doubtful || promised;
    const covered = mayBeOurs || stored.status === "recovered" || charge.runId !== run.runId;
    this.#events.settled(charge, mayBeOurs && same ? "stored" : covered ? "covered" : "repeated", run);
    durable();
  }

  /** Makes a charge anew and sends it again; tries until it can, or until it is clear that it never will. */
  async #renew(waiting: Waiting): Promise<void> {
    for (let attempt = 1, failures = 0; ; attempt++) {
      try {
        waiting.charge = await this.#events.fenced(waiting.charge);
        return this.#enqueue(waiting);
      } catch (error) {
        this.#logger.error({ error, attempt }, "a fenced charge could not be made anew");
        if (!isUnreachable(error)) {
          failures++;
        }
        if (isLasting(error) || failures >= mostAttempts) {
          return this.#giveUp(waiting, error);
        }
      }
      await this.#promise(); // nobody waits for a charge that takes so long
      if (this.#closing) {
        return;
      }
      await this.#pause(attempt, lastAloneMs);
    }
  }

  /** Puts a charge that cannot be made among the dead letters, however long it takes until there is room for it. */
  async #giveUp(waiting: Waiting, why: unknown): Promise<void> {
    const { charge } = waiting;
    const reason = why instanceof Error ? why.message : String(why);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#deadLetters.put(charge, reason);
        break;
      } catch (error) {
        this.#logger.error({ error, charge, reason }, "a charge that cannot be made could not be put aside");
      }
      await this.#promise();
      if (this.#closing) {
        return;
      }
      await this.#pause(attempt, lastAloneMs);
    }
    this.#logger.error({ charge, reason }, "a charge cannot be made and is among the dead letters");
    this.#events.settled(charge, "refused", waiting.run);
    waiting.refused(failure(Reason.LEDGER_UNAVAILABLE, "The usage could not be recorded.", {}, why));
  }

  /** Lets the callers go whom the store keeps waiting, as soon as the journal has promised their charges. */
  #promiseEvery(ms: number): () => void {
    const promise = async () => {
      await this.#promise();
      if (stop !== noop) {
        stop = this.#promiseEvery(ms);
      }
    };
    let stop = this.#clock.after(ms, () => void promise());
    return () => {
      stop();
      stop = noop;
    };
  }

  async #promise(): Promise<void> {
    const all = new Set([...this.#inFlight, ...this.#queue, ...this.#troubled.keys()]);
    const waiting = [...all].filter(({ promised }) => !promised);
    if (waiting.length === 0) {
      return;
    }
    if (!(await this.#journal.promise(waiting.map(({ charge }) => charge)))) {
      return;
    }
    for (const one of waiting) {
      one.promised = true;
      one.durable();
    }
  }

  /** Waits before the next attempt; not at all once the settler closes. */
  #pause(attempt: number, longest: number): Promise<void> {
    if (this.#closing) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = () => {
        stop();
        this.#pauses.delete(end);
        resolve();
      };
      const stop = this.#clock.after(Math.min(firstRetryMs * 2 ** Math.min(attempt - 1, 10), longest), end);
      this.#pauses.add(end);
    });
  }
}

const noop = () => {};
