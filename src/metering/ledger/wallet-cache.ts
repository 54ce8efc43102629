import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { PicoUsd } from "../interface.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { LedgerStore } from "../store/ledger-store.ts";
import { Leasing } from "./lease-batch.ts";
import { unavailable } from "./unavailable.ts";
import { Line } from "./wait-queue.ts";
import { Purse } from "./wallet.ts";

/** Sums of money in memory stay below this, so that they are exact. */
const MOST_LEASED = 2 ** 52;
/** Where cores share the lots, a first slice is of this size and each further one doubles, up to the last. */
const FIRST_SLICE = 12_500_000_000;
const LAST_SLICE = 1_000_000_000_000;
/** Where cores share the lots, how often one looks whether another gave money back. */
const LOOK_AGAIN_MS = 250;
/** How old the facts may be that a rate limit depends on. */
const STANDING_MS = 20_000;
/** A purse that was not used for this long gives everything back: sooner where another core may need it. */
const IDLE_MS = 300_000;
const IDLE_SHARED_MS = 3000;

/** The purses of all accounts that use this core. */
export class Purses {
  readonly #store: LedgerStore;
  readonly #book: PriceBook;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #leasing: Leasing;
  readonly #purses = new Map<string, Purse>();
  readonly #opening = new Map<string, Promise<Purse>>();
  /** Slices to be closed, until the store has closed them. */
  readonly #ended = new Set<string>();

  constructor(parts: { store: LedgerStore; book: PriceBook; clock: Clock; logger: Logger }) {
    this.#store = parts.store;
    this.#book = parts.book;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#leasing = new Leasing(parts.store, parts.clock);
  }

  /** An account's purse if it is in memory. */
  find(accountId: string): Purse | undefined {
    return this.#purses.get(accountId);
  }

  /** An account's purse. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  open(accountId: string): Promise<Purse> {
    const purse = this.#purses.get(accountId);
    if (purse !== undefined) return Promise.resolve(purse);
    let opening = this.#opening.get(accountId);
    if (opening === undefined) {
      opening = this.#open(accountId).finally(() => this.#opening.delete(accountId));
      this.#opening.set(accountId, opening);
    }
    return opening;
  }

  async #open(accountId: string): Promise<Purse> {
    const lookAgain = this.#store.shared ? LOOK_AGAIN_MS : Number.POSITIVE_INFINITY;
    const purse = new Purse(accountId, this.#book, new Line(this.#clock, lookAgain));
    await this.#look(purse, 0, this.#nextSlice(purse));
    this.used(purse);
    this.#purses.set(accountId, purse);
    return purse;
  }

  /** Notes that a purse is in use, and leases more in the background before it runs out. */
  used(purse: Purse): void {
    purse.usedAt = this.#clock.monotonic();
    const low = purse.unleased > 0n && purse.free < purse.sliceSize / 4;
    if (low && purse.looking === undefined) this.#inBackground(this.#look(purse, 1, this.#nextSlice(purse)));
  }

  /** Leases at least so much more, if there is so much. Returns whether there may be more than before. */
  async lease(purse: Purse, least: PicoUsd): Promise<boolean> {
    if (purse.looking !== undefined) {
      await purse.looking;
      return true;
    }
    const mayFind =
      purse.stale ||
      purse.unleased > 0n ||
      (this.#store.shared && this.#clock.monotonic() - purse.lookedAt >= LOOK_AGAIN_MS);
    return mayFind && (await this.#look(purse, least, Math.max(least, this.#nextSlice(purse))));
  }

  /** Looks at the account's money anew. Where others may want it too, nothing is leased before it is needed. */
  async refresh(purse: Purse): Promise<void> {
    await purse.looking;
    await this.#look(purse, 0, this.#store.shared ? 0 : MOST_LEASED);
    purse.stale = true;
  }

  /** Looks at the account's money anew, in the background, when the last look was long ago. */
  refreshIfOld(purse: Purse): void {
    const old = this.#store.shared && this.#clock.monotonic() - purse.lookedAt >= STANDING_MS;
    if (old && purse.looking === undefined) this.#inBackground(this.refresh(purse));
  }

  #inBackground(looking: Promise<unknown>): void {
    looking.catch((error: unknown) => this.#logger.warn({ error }, "an account could not be looked up"));
  }

  #look(purse: Purse, least: PicoUsd, most: PicoUsd): Promise<boolean> {
    const looking = this.#lookOnce(purse, least, most).finally(() => {
      purse.looking = undefined;
    });
    purse.looking = looking;
    return looking;
  }

  async #lookOnce(purse: Purse, least: PicoUsd, wish: PicoUsd): Promise<boolean> {
    await purse.returning;
    const most = Math.min(wish, MOST_LEASED - purse.available);
    purse.stale = false;
    purse.lookedAt = this.#clock.monotonic();
    const lease = await this.#available(() =>
      this.#leasing.acquire({ accountId: purse.accountId, least: Math.min(least, most), most }),
    );
    if (lease === undefined)
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${purse.accountId}.`, { parameter: "account_id" });
    await this.#available(() => purse.loadRatesOf(lease.slices));
    purse.add(lease);
    return lease.slices.length > 0;
  }

  /** What to lease in advance: the whole lot where nobody else wants it. */
  #nextSlice(purse: Purse): PicoUsd {
    if (!this.#store.shared) return MOST_LEASED;
    purse.sliceSize = purse.sliceSize === 0 ? FIRST_SLICE : Math.min(purse.sliceSize * 2, LAST_SLICE);
    return purse.sliceSize;
  }

  async #available<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#logger.error({ error }, "the store could not be asked");
      throw unavailable("The ledger cannot be reached at the moment.", error);
    }
  }

  /** Gives the account's free money back, and keeps it back while a function runs. */
  async withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T> {
    const purse = await this.open(accountId);
    while (purse.returning !== undefined) await purse.returning;
    await purse.looking;
    let done = () => {};
    purse.returning = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await this.#store.giveBack(purse.takeFree());
      return await run();
    } finally {
      purse.returning = undefined;
      purse.stale = true;
      done();
      purse.line.changed();
    }
  }

  /** Another core says that an account's money has changed or is wanted: gives back what is free and looks anew. */
  heard(accountId: string): void {
    const purse = this.#purses.get(accountId);
    if (purse === undefined || purse.returning !== undefined) return;
    purse.stale = true;
    const done = this.#store.giveBack(purse.takeFree()).then(() => this.refresh(purse));
    this.#inBackground(done.then(() => purse.line.changed()));
  }

  /** Forgets slices that are no longer this core's. */
  lose(purse: Purse, sliceIds: readonly string[]): void {
    purse.lose(new Set(sliceIds));
    for (const id of sliceIds) this.#ended.add(id); // those that are this core's after all
  }

  /** Forgets slices that others have taken since. */
  async loseTaken(): Promise<void> {
    const mine = await this.#store.leased();
    for (const purse of this.#purses.values()) {
      this.lose(
        purse,
        purse.sliceIds.filter((id) => !mine.has(id)),
      );
      purse.stale = true;
    }
  }

  /** Closes what is used up, gives back what has expired or lies idle. */
  async tidy(): Promise<void> {
    const now = this.#clock.now();
    const returned: { sliceId: string; amount: PicoUsd }[] = [];
    for (const purse of this.#purses.values()) {
      if (this.#unused(purse)) this.#drop(purse);
      else returned.push(...purse.takeExpired(now));
      for (const id of purse.takeDrained()) this.#ended.add(id);
    }
    if (returned.length > 0) await this.#store.giveBack(returned);
    await this.#closeEnded();
  }

  #unused(purse: Purse): boolean {
    const poor = this.#store.shared && purse.unleased === 0n;
    const since = this.#clock.monotonic() - purse.usedAt;
    return since >= (poor ? IDLE_SHARED_MS : IDLE_MS) && purse.idle;
  }

  #drop(purse: Purse): void {
    for (const id of purse.takeAll()) this.#ended.add(id);
    this.#purses.delete(purse.accountId);
  }

  async #closeEnded(): Promise<void> {
    if (this.#ended.size === 0) return;
    const ids = [...this.#ended];
    await this.#store.close(ids);
    for (const id of ids) this.#ended.delete(id);
  }

  /** Gives everything back that no running request needs. */
  async close(): Promise<void> {
    for (const purse of this.#purses.values()) if (purse.idle) this.#drop(purse);
    await this.#closeEnded();
  }
}
