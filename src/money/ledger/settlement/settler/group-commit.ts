import { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Journal } from "../../../journal/journal.ts";
import type { MeteringObserver } from "../../../model/observer.ts";
import type { ChargeStore, SettleOutcome } from "../../../model/store/charge.ts";
import { type AgedCharges, agedReason } from "../aged-charges.ts";
import { findFault } from "../charge-faults.ts";
import type { OpenCharge, OpenCharges } from "./open-charges.ts";
import type { Pauses } from "./pauses.ts";

/** When charges come one after the other, group commits begin at least this far apart. */
const lingerMs = 5;
/** The same when the journal has promised the charges, so that nobody waits for the group. */
const patientLingerMs = 100;
/** The most charges in one group commit. */
const batchSize = 500;
/** The longest pause between two attempts while the store takes nothing. */
const lastRetryMs = 1000;

/** Why a charge can never be stored. */
export interface Impossible {
  readonly impossible: unknown;
}

/** The outcome of a charge. left: this process ends, and the journal keeps the charge. */
export type Committed = SettleOutcome | Impossible | "left";

interface Dependencies {
  readonly store: Pick<ChargeStore, "settle" | "settled" | "isViolation">;
  readonly aged: Pick<AgedCharges, "find">;
  /** True when the journal promises every charge before the store has it. */
  readonly promisesFirst: boolean;
  readonly journal: Pick<Journal, "healthy">;
  readonly charges: OpenCharges;
  readonly pauses: Pauses;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "committed" | "refused">;
  /** Called once with each charge's outcome: not a function of each charge, which would grow old with it. */
  readonly conclude: (open: OpenCharge, outcome: Committed) => void;
}

/** Commits charges in groups, one group at a time, and asks the store until it answers. */
export class GroupCommit {
  readonly #parts: Dependencies;
  readonly #outage: Outage;
  #queue: OpenCharge[] = [];
  #running = false;
  /** When the last group began, by the monotonic clock, and whether charges came close together then. */
  #lastBegan = Number.NEGATIVE_INFINITY;
  #busy = false;
  /** Ends the linger time of charges that wait for others. */
  #stopLingering: (() => void) | undefined;
  #flushing = false;
  /** The number of charges that came, and of those that the store has answered to. Groups keep their order. */
  #taken = 0;
  #concluded = 0;
  /** Readers that wait until the first `all` charges are concluded. */
  readonly #readers: { readonly all: number; readonly caughtUp: () => void }[] = [];

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#outage = new Outage(parts, "the store did not take a settlement", "the store takes settlements again");
  }

  commit(open: OpenCharge): void {
    this.#queue.push(open);
    this.#taken++;
    if (this.#queue.length >= batchSize) {
      this.#stopLingering?.();
    }
    if (!this.#running) {
      this.#running = true;
      void this.#commitAll();
    }
  }

  /**
   * Commits the waiting charges now. Resolves when the store has answered to all charges so far, or after the given
   * time.
   */
  async caughtUp(mostMs: number): Promise<void> {
    const all = this.#taken;
    if (this.#concluded === all) {
      return;
    }
    this.#stopLingering?.();
    await new Promise<void>((resolve) => {
      const stop = this.#parts.clock.after(mostMs, resolve);
      const caughtUp = () => {
        stop();
        resolve();
      };
      this.#readers.push({ all, caughtUp });
    });
  }

  /** Stops groups from lingering until the given work is done. */
  async flush(work: Promise<void>): Promise<void> {
    this.#flushing = true;
    this.#stopLingering?.();
    await work;
    this.#flushing = false;
  }

  async #commitAll(): Promise<void> {
    const { clock, charges } = this.#parts;
    while (this.#queue.length > 0) {
      await this.#linger();
      this.#lastBegan = clock.monotonic();
      const group = this.#queue.splice(0, batchSize);
      const stopPromising = charges.promiseWhileSlow();
      await this.#commit(group);
      stopPromising();
      this.#tellReaders(group.length);
      this.#busy = group.length > 1 || this.#queue.length > 0;
    }
    this.#running = false;
  }

  #tellReaders(concluded: number): void {
    this.#concluded += concluded;
    while ((this.#readers[0]?.all ?? Number.POSITIVE_INFINITY) <= this.#concluded) {
      this.#readers.shift()?.caughtUp();
    }
  }

  /**
   * Lets a group grow. A charge that comes alone goes to the store at once, and so does the next one. Charges wait only
   * when they came together or while others were on their way: then more are to be expected, and a commit costs about
   * the same for one as for many. Charges that the journal has promised always wait, and longer.
   */
  async #linger(): Promise<void> {
    await undefined; // joins the charges that end in the same turn of the event loop
    const { clock, promisesFirst, journal } = this.#parts;
    const isPatient = promisesFirst && journal.healthy;
    const ms = this.#lastBegan + (isPatient ? patientLingerMs : lingerMs) - clock.monotonic();
    if (!(this.#busy || isPatient) || ms <= 0 || this.#queue.length >= batchSize || this.#flushing) {
      return;
    }
    await new Promise<void>((resolve) => {
      const stop = clock.after(ms, resolve);
      this.#stopLingering = () => {
        stop();
        resolve();
      };
    });
    this.#stopLingering = undefined;
  }

  async #commit(group: readonly OpenCharge[]): Promise<void> {
    const { store, charges, pauses, observer } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store(await this.#concludeAged(group));
      } catch (error) {
        for (const open of group) {
          open.doubtful = true;
        }
        observer.refused();
        this.#outage.failed(error, { charges: group.length });
        if (store.isViolation(error) || group.some(({ charge }) => findFault(charge) !== undefined)) {
          return this.#commitEach(group, error);
        }
      }
      if (pauses.over && attempt > 1) {
        await charges.promise();
        return this.#leave(group);
      }
      await pauses.pause(attempt, lastRetryMs);
    }
  }

  /** Concludes charges that may have been made before but can no longer be recognized. Returns the others. */
  async #concludeAged(group: readonly OpenCharge[]): Promise<readonly OpenCharge[]> {
    const { store, aged, conclude } = this.#parts;
    const doubtful = group.filter((open) => open.doubtful);
    const found = new Set(doubtful.length === 0 ? [] : await aged.find(doubtful));
    if (found.size === 0) {
      return group;
    }
    const known = await store.settled([...found].map(({ charge }) => charge));
    for (const open of group.filter((one) => found.has(one))) {
      conclude(open, known.has(open.charge.runId) ? "repeated" : { impossible: agedReason });
    }
    return group.filter((open) => !found.has(open));
  }

  async #store(group: readonly OpenCharge[]): Promise<void> {
    if (group.length === 0) {
      return;
    }
    const { store, clock, observer, conclude } = this.#parts;
    const since = clock.monotonic();
    const outcomes = await store.settle(group.map(({ charge }) => charge));
    this.#outage.succeeded();
    observer.committed(group.length, clock.monotonic() - since);
    for (const [at, open] of group.entries()) {
      conclude(open, outcomes[at] ?? "stored");
    }
  }

  /** Commits each charge alone, so that an impossible charge does not keep the rest of its group from being stored. */
  async #commitEach(group: readonly OpenCharge[], error: unknown): Promise<void> {
    const [only] = group;
    if (group.length === 1 && only !== undefined) {
      this.#parts.conclude(only, { impossible: findFault(only.charge) ?? error });
      return;
    }
    for (const open of group) {
      await this.#commit([open]);
    }
  }

  #leave(group: readonly OpenCharge[]): void {
    for (const open of group) {
      this.#parts.conclude(open, "left");
    }
  }
}
