import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../../../lib/errors/failure.ts";
import type { Logger } from "../../../../../lib/logger.ts";
import type { Clock } from "../../../../../lib/time/clock.ts";
import type { Debts } from "../../../books/debts.ts";
import type { PicoUsd } from "../../../interface.ts";
import type { Announcements } from "../../announcements.ts";
import { callInMs, lookAgainMs } from "../../refill/intervals.ts";
import { Turns } from "../../refill/turns.ts";
import { unavailable } from "../../unavailable.ts";
import { WaitQueue } from "../wait-queue.ts";
import type { Wallet } from "../wallet.ts";
import type { LeaseRequest, SlicePart, WalletStore } from "../wallet-store.ts";
import type { LeaseBatch } from "./lease-batch.ts";
import type { SliceAudit } from "./slice-audit.ts";
import { mostLeased, SliceSize } from "./slice-size.ts";

/** How old the facts may be that a rate limit depends on. */
const standingMs = 20_000;
/** A wallet that was not used for this long gives everything back: sooner where another core may need it. */
const idleMs = 300_000;
const idleSharedMs = 3000;

/** Dependencies of a cached wallet. */
export interface RefillParts {
  readonly store: WalletStore & Announcements;
  readonly debts: Debts;
  readonly leases: LeaseBatch;
  readonly audit: SliceAudit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A wallet with those who wait for its money and what keeps it filled: leases, gives back, pays what is owed. */
export class CachedWallet {
  readonly wallet: Wallet;
  /** Requests that wait for this money. */
  readonly queue: WaitQueue;
  readonly #parts: RefillParts;
  readonly #sliceSize: SliceSize;
  /** A look at the account's money that is under way. */
  #refilling: Promise<boolean> | undefined;
  readonly #turns = new Turns();
  /** When it was last looked at and last used, by the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #usedAt = 0;
  /** When the other cores were last asked for this money. */
  #calledInAt = Number.NEGATIVE_INFINITY;
  /** Whether it is known to have changed since it was looked at. */
  #stale = true;

  constructor(wallet: Wallet, parts: RefillParts) {
    this.wallet = wallet;
    this.#parts = parts;
    this.#sliceSize = new SliceSize(parts.store.shared);
    this.queue = new WaitQueue(parts.clock, parts.store.shared ? lookAgainMs : Number.POSITIVE_INFINITY);
  }

  /** Set while the store moves this account's money; never rejects. */
  get moving(): Promise<void> | undefined {
    return this.#turns.running;
  }

  /** Whether nothing runs on this wallet and nothing is on its way into the store. */
  get idle(): boolean {
    return this.wallet.idle && this.queue.empty && this.#refilling === undefined && this.#turns.running === undefined;
  }

  /** Whether it has been idle for so long that its money is better given back. */
  get unused(): boolean {
    const poor = this.#parts.store.shared && this.wallet.unleased === 0n;
    const since = this.#parts.clock.monotonic() - this.#usedAt;
    return since >= (poor ? idleSharedMs : idleMs) && this.idle;
  }

  /** Leases the first money. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  async fill(): Promise<void> {
    await this.#look(0, this.#sliceSize.next());
    this.used();
  }

  /** Notes that the wallet is in use, and leases more in the background before it runs out. */
  used(): void {
    this.#usedAt = this.#parts.clock.monotonic();
    const low = this.wallet.unleased > 0n && this.wallet.free < this.#sliceSize.low;
    if (low && this.#refilling === undefined) {
      this.#inBackground(this.#look(1, this.#sliceSize.next()));
    }
  }

  /** Notes that the account's money has changed, or may have. */
  doubt(): void {
    this.#stale = true;
  }

  /**
   * Leases at least so much more, if there is so much, and asks the other cores for what is then still lacking.
   * Returns whether there may be more than before.
   */
  async lease(least: PicoUsd): Promise<boolean> {
    if (this.#refilling !== undefined) {
      await this.#refilling;
      return true;
    }
    const mayFind =
      this.#stale || this.wallet.unleased > 0n || (this.#parts.store.shared && this.#sinceLook() >= lookAgainMs);
    if (!mayFind) {
      return false;
    }
    const wanted = this.wallet.free + least;
    const found = await this.#look(least, Math.max(least, this.#sliceSize.next()));
    if (this.wallet.free < wanted && this.wallet.elsewhere > 0n) {
      this.#callIn();
    }
    return found;
  }

  /** Asks the other cores to give back what they do not hold of this money. */
  #callIn(): void {
    const { clock, store } = this.#parts;
    if (clock.monotonic() - this.#calledInAt >= callInMs) {
      this.#calledInAt = clock.monotonic();
      this.#inBackground(store.announce(this.wallet.accountId));
    }
  }

  /** Looks at the account's money anew. Where others may want it too, nothing is leased before it is needed. */
  async refresh(): Promise<void> {
    while (this.#refilling !== undefined) {
      await this.#refilling;
    }
    await this.#look(0, this.#parts.store.shared ? 0 : mostLeased);
    this.#stale = true;
    // Money that just came in may be spent before the rest, which then need not stay here.
    await this.alone(() => this.#giveBack(this.wallet.takeSurplus()));
  }

  /** Looks at the account's money anew, in the background, when the last look was long ago. */
  refreshIfOld(): void {
    if (this.#parts.store.shared && this.#sinceLook() >= standingMs && this.#refilling === undefined) {
      this.#inBackground(this.refresh());
    }
  }

  #sinceLook(): number {
    return this.#parts.clock.monotonic() - this.#lookedAt;
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#parts.logger.warn({ error }, "an account could not be looked up"));
  }

  /** Runs a function while nothing else moves the wallet's money in the store. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.#turns.take(run);
  }

  /** Looks once for all who ask meanwhile; only to be called while nobody looks. */
  #look(least: PicoUsd, most: PicoUsd): Promise<boolean> {
    const refilling = this.alone(() => this.#lookOnce(least, most)).finally(() => {
      this.#refilling = undefined;
    });
    this.#refilling = refilling;
    return refilling;
  }

  async #lookOnce(least: PicoUsd, wish: PicoUsd): Promise<boolean> {
    await this.#available(() => this.#parts.audit.clear(this));
    const most = Math.min(wish, mostLeased - this.wallet.available);
    this.#stale = false;
    this.#lookedAt = this.#parts.clock.monotonic();
    const { accountId } = this.wallet;
    const found = await this.#move(() => this.#acquire({ accountId, least: Math.min(least, most), most }));
    if (found === undefined) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    return (await this.#payDebt()) || found > 0;
  }

  /** Leases money into the wallet. Returns how many slices came. Undefined: there is no such account. */
  async #acquire(request: LeaseRequest): Promise<number | undefined> {
    const lease = await this.#parts.leases.acquire(request);
    if (lease === undefined) {
      return undefined;
    }
    await this.wallet.loadRatesOf(lease);
    this.wallet.add(lease);
    return lease.slices.length;
  }

  /** Pays what the account owes out of its free money, as far as there is any. */
  payDebt(): Promise<boolean> {
    return this.alone(() => this.#payDebt());
  }

  /** To be called while nothing else moves the wallet's money. Returns whether something was paid. */
  async #payDebt(): Promise<boolean> {
    if (!this.wallet.canPayDebt) {
      return false;
    }
    const { accountId } = this.wallet;
    await this.#giveBack(this.wallet.takeFree());
    const paid = await this.#available(() => this.#parts.debts.pay(accountId));
    await this.#move(() => this.#acquire({ accountId, least: 0, most: 0 }));
    return paid > 0;
  }

  /** Money of the wallet became free: it pays what the account owes, or lets the next request in. */
  freed(): void {
    if (this.wallet.canPayDebt) {
      this.#inBackground(this.payDebt().then(() => this.queue.changed()));
    } else {
      this.queue.changed();
    }
  }

  /** Gives money back that was taken out of the wallet. To be called while nothing else moves its money. */
  async #giveBack(parts: readonly SlicePart[]): Promise<void> {
    if (parts.length > 0) {
      await this.#move(() => this.#parts.store.giveBack(parts));
    }
  }

  /** Gives back what has expired and nobody holds. Never rejects: what the store has not heard of is cleared up later. */
  async returnExpired(): Promise<void> {
    try {
      await this.alone(() => this.#giveBack(this.wallet.takeExpired(this.#parts.clock.now())));
    } catch (error) {
      this.#parts.logger.warn({ error }, "expired money could not be given back yet");
    }
  }

  /** Gives the account's free money back, and keeps it back while a function runs. */
  async withFreeReturned<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.alone(async () => {
        await this.#available(() => this.#parts.audit.clear(this));
        await this.#giveBack(this.wallet.takeFree());
        return await run();
      });
    } finally {
      this.#stale = true;
      this.queue.changed();
    }
  }

  /**
   * Another core says that the account's money has changed or is wanted: gives back what is free and looks anew. Who waits
   * here for more than that looks again a little later, so that two cores that lack something do not take it from each
   * other in turns.
   */
  announced(): void {
    this.#stale = true;
    const given = this.alone(async () => {
      const parts = this.wallet.takeFree();
      await this.#giveBack(parts);
      return parts.length > 0;
    });
    const done = given.then(async (someWasGiven) => {
      await this.refresh();
      if (!someWasGiven) {
        this.queue.changed();
      }
    });
    this.#inBackground(done);
  }

  /** Has the store move the account's money. When that fails nobody knows whether it did. */
  async #move<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.#available(run);
    } catch (error) {
      this.#parts.audit.doubt(this.wallet.accountId);
      this.#stale = true;
      throw error;
    }
  }

  async #available<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#parts.logger.error({ error }, "the store could not be asked");
      throw unavailable("The ledger cannot be reached at the moment.", error);
    }
  }
}
