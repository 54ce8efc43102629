import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../../lib/errors/failure.ts";
import type { Logger } from "../../../../lib/logger.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import type { Debts } from "../../books/debts.ts";
import type { PicoUsd } from "../../interface.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { LeaseRequest, LedgerStore, StoredSlice } from "../../store/ledger-store.ts";
import { unavailable } from "../unavailable.ts";
import { LeaseBatch } from "./lease-batch.ts";
import { type AuditedWallets, SliceAudit } from "./slice-audit.ts";
import { WaitQueue } from "./wait-queue.ts";
import { Wallet } from "./wallet.ts";

/** Sums of money in memory stay below this, so that they are exact. */
const mostLeased = 2 ** 52;
/** Where cores share the lots, a first slice is of this size and each further one doubles, up to the last. */
const firstSlice = 12_500_000_000;
const lastSlice = 1_000_000_000_000;
/** Where cores share the lots, how often one looks whether another gave money back. */
const lookAgainMs = 250;
/** How old the facts may be that a rate limit depends on. */
const standingMs = 20_000;
/** A wallet that was not used for this long gives everything back: sooner where another core may need it. */
const idleMs = 300_000;
const idleSharedMs = 3000;

/** The wallets of all accounts that use this core. */
export class WalletCache implements AuditedWallets {
  readonly #store: LedgerStore;
  readonly #book: PriceBook;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #debts: Debts;
  readonly #leases: LeaseBatch;
  readonly #wallets = new Map<string, Wallet>();
  readonly #opening = new Map<string, Promise<Wallet>>();
  readonly #audit: SliceAudit;
  /** Slices to be closed, until the store has closed them. */
  readonly ended = new Set<string>();

  constructor(parts: { store: LedgerStore; debts: Debts; book: PriceBook; clock: Clock; logger: Logger }) {
    this.#debts = parts.debts;
    this.#store = parts.store;
    this.#book = parts.book;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#leases = new LeaseBatch(parts.store, parts.clock);
    this.#audit = new SliceAudit({ store: parts.store, wallets: this, logger: parts.logger });
  }

  /** The wallets in memory. */
  get all(): ReadonlyMap<string, Wallet> {
    return this.#wallets;
  }

  /** An account's wallet if it is in memory. */
  find(accountId: string): Wallet | undefined {
    return this.#wallets.get(accountId);
  }

  /** An account's wallet. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  open(accountId: string): Promise<Wallet> {
    const wallet = this.#wallets.get(accountId);
    if (wallet !== undefined) {
      return Promise.resolve(wallet);
    }
    let opening = this.#opening.get(accountId);
    if (opening === undefined) {
      opening = this.#open(accountId).finally(() => this.#opening.delete(accountId));
      this.#opening.set(accountId, opening);
    }
    return opening;
  }

  async #open(accountId: string): Promise<Wallet> {
    const lookAgain = this.#store.shared ? lookAgainMs : Number.POSITIVE_INFINITY;
    const wallet = new Wallet(accountId, this.#book, new WaitQueue(this.#clock, lookAgain));
    await this.#look(wallet, 0, this.#nextSlice(wallet));
    this.used(wallet);
    this.#wallets.set(accountId, wallet);
    return wallet;
  }

  /** Notes that a wallet is in use, and leases more in the background before it runs out. */
  used(wallet: Wallet): void {
    wallet.usedAt = this.#clock.monotonic();
    const low = wallet.unleased > 0n && wallet.free < wallet.sliceSize / 4;
    if (low && wallet.refilling === undefined) {
      this.#inBackground(this.#look(wallet, 1, this.#nextSlice(wallet)));
    }
  }

  /** Leases at least so much more, if there is so much. Returns whether there may be more than before. */
  async lease(wallet: Wallet, least: PicoUsd): Promise<boolean> {
    if (wallet.refilling !== undefined) {
      await wallet.refilling;
      return true;
    }
    const mayFind =
      wallet.stale ||
      wallet.unleased > 0n ||
      (this.#store.shared && this.#clock.monotonic() - wallet.lookedAt >= lookAgainMs);
    return mayFind && (await this.#look(wallet, least, Math.max(least, this.#nextSlice(wallet))));
  }

  /** Looks at the account's money anew. Where others may want it too, nothing is leased before it is needed. */
  async refresh(wallet: Wallet): Promise<void> {
    while (wallet.refilling !== undefined) {
      await wallet.refilling;
    }
    await this.#look(wallet, 0, this.#store.shared ? 0 : mostLeased);
    wallet.stale = true;
    // What just came in may be spent before the rest, which then need not be here any more.
    await this.alone(wallet, () => this.#giveBack(wallet, wallet.takeSurplus()));
  }

  /** Looks at the account's money anew, in the background, when the last look was long ago. */
  refreshIfOld(wallet: Wallet): void {
    const old = this.#store.shared && this.#clock.monotonic() - wallet.lookedAt >= standingMs;
    if (old && wallet.refilling === undefined) {
      this.#inBackground(this.refresh(wallet));
    }
  }

  #inBackground(refilling: Promise<unknown>): void {
    refilling.catch((error: unknown) => this.#logger.warn({ error }, "an account could not be looked up"));
  }

  /** Runs a function while nothing else moves the wallet's money in the store. */
  async alone<T>(wallet: Wallet, run: () => Promise<T>): Promise<T> {
    while (wallet.moving !== undefined) {
      await wallet.moving;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    wallet.moving = promise;
    try {
      return await run();
    } finally {
      wallet.moving = undefined;
      resolve();
    }
  }

  /** Looks once for all who ask meanwhile; only to be called while nobody looks. */
  #look(wallet: Wallet, least: PicoUsd, most: PicoUsd): Promise<boolean> {
    const refilling = this.alone(wallet, () => this.#lookOnce(wallet, least, most)).finally(() => {
      wallet.refilling = undefined;
    });
    wallet.refilling = refilling;
    return refilling;
  }

  async #lookOnce(wallet: Wallet, least: PicoUsd, wish: PicoUsd): Promise<boolean> {
    await this.#available(() => this.#audit.clear(wallet));
    const most = Math.min(wish, mostLeased - wallet.available);
    wallet.stale = false;
    wallet.lookedAt = this.#clock.monotonic();
    const { accountId } = wallet;
    const found = await this.#move(wallet, () =>
      this.#acquire(wallet, { accountId, least: Math.min(least, most), most }),
    );
    if (found === undefined) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    return (await this.#payDebt(wallet)) || found > 0;
  }

  /** Leases money into a wallet. Returns how many slices came. Undefined: there is no such account. */
  async #acquire(wallet: Wallet, request: LeaseRequest): Promise<number | undefined> {
    const lease = await this.#leases.acquire(request);
    if (lease === undefined) {
      return undefined;
    }
    // A model may come meanwhile that the account has not asked for before.
    while (!wallet.knowsRatesOf(lease.slices)) {
      await wallet.loadRatesOf(lease.slices);
    }
    wallet.add(lease);
    return lease.slices.length;
  }

  /** Pays what an account owes out of its free money, as far as there is any. */
  payDebt(wallet: Wallet): Promise<boolean> {
    return this.alone(wallet, () => this.#payDebt(wallet));
  }

  /** To be called while nothing else moves the wallet's money. Returns whether something was paid. */
  async #payDebt(wallet: Wallet): Promise<boolean> {
    if (!wallet.canPayDebt) {
      return false;
    }
    const { accountId } = wallet;
    await this.#giveBack(wallet, wallet.takeFree());
    const paid = await this.#available(() => this.#debts.pay(accountId));
    await this.#move(wallet, () => this.#acquire(wallet, { accountId, least: 0, most: 0 }));
    return paid > 0;
  }

  /** Money of a wallet became free: it pays what the account owes, or lets the next request in. */
  freed(wallet: Wallet): void {
    if (wallet.canPayDebt) {
      this.#inBackground(this.payDebt(wallet).then(() => wallet.queue.changed()));
    } else {
      wallet.queue.changed();
    }
  }

  /** Gives money back that was taken out of a wallet. To be called while nothing else moves its money. */
  async #giveBack(wallet: Wallet, parts: readonly { sliceId: string; amount: PicoUsd }[]): Promise<void> {
    if (parts.length > 0) {
      await this.#move(wallet, () => this.#store.giveBack(parts));
    }
  }

  /** Has the store move an account's money. When that fails nobody knows whether it did. */
  async #move<T>(wallet: Wallet, run: () => Promise<T>): Promise<T> {
    try {
      return await this.#available(run);
    } catch (error) {
      this.#audit.doubt(wallet.accountId);
      wallet.stale = true;
      throw error;
    }
  }

  /** What to lease in advance: the whole lot where nobody else wants it. */
  #nextSlice(wallet: Wallet): PicoUsd {
    if (!this.#store.shared) {
      return mostLeased;
    }
    wallet.sliceSize = wallet.sliceSize === 0 ? firstSlice : Math.min(wallet.sliceSize * 2, lastSlice);
    return wallet.sliceSize;
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
    const wallet = await this.open(accountId);
    try {
      return await this.alone(wallet, async () => {
        await this.#available(() => this.#audit.clear(wallet));
        await this.#giveBack(wallet, wallet.takeFree());
        return await run();
      });
    } finally {
      wallet.stale = true;
      wallet.queue.changed();
    }
  }

  /** Another core says that an account's money has changed or is wanted: gives back what is free and looks anew. */
  announced(accountId: string): void {
    const wallet = this.#wallets.get(accountId);
    if (wallet === undefined) {
      return;
    }
    wallet.stale = true;
    const done = this.alone(wallet, () => this.#giveBack(wallet, wallet.takeFree())).then(() => this.refresh(wallet));
    this.#inBackground(done.then(() => wallet.queue.changed()));
  }

  /** Forgets slices that are no longer this core's. */
  lose(wallet: Wallet, sliceIds: readonly string[]): void {
    wallet.lose(new Set(sliceIds));
    for (const id of sliceIds) {
      this.ended.add(id); // those that are this core's after all
    }
  }

  /** Compares what this core knows with what the store says that it has, and clears up where they differ. */
  audit(): Promise<void> {
    return this.#audit.run();
  }

  /** Closes slices that no wallet has, now or as soon as the store can be reached. */
  async closeSlices(sliceIds: readonly string[]): Promise<void> {
    for (const id of sliceIds) {
      this.ended.add(id);
    }
    await this.#closeEnded().catch((error: unknown) => {
      this.#logger.warn({ error }, "slices could not be closed yet");
    });
  }

  /** The open slices that are this core's and that it does not know. */
  unknownSlices(): Promise<StoredSlice[]> {
    return this.#audit.unknown();
  }

  /** Closes what is used up, gives back what has expired or lies idle, clears up what became of calls that failed. */
  async tidy(): Promise<void> {
    const now = this.#clock.now();
    for (const wallet of this.#wallets.values()) {
      if (this.#unused(wallet)) {
        this.#drop(wallet);
      } else if (wallet.hasExpired(now) && wallet.moving === undefined) {
        void this.returnExpired(wallet);
      }
      for (const id of wallet.takeDrained()) {
        this.ended.add(id);
      }
      if (wallet.canPayDebt && wallet.moving === undefined) {
        this.freed(wallet);
      }
    }
    await this.#closeEnded();
    await this.#audit.clearAll();
  }

  /** Gives back what has expired and nobody holds. Never rejects: what the store has not heard of is cleared up later. */
  async returnExpired(wallet: Wallet): Promise<void> {
    try {
      await this.alone(wallet, () => this.#giveBack(wallet, wallet.takeExpired(this.#clock.now())));
    } catch (error) {
      this.#logger.warn({ error }, "expired money could not be given back yet");
    }
  }

  #unused(wallet: Wallet): boolean {
    const poor = this.#store.shared && wallet.unleased === 0n;
    const since = this.#clock.monotonic() - wallet.usedAt;
    return since >= (poor ? idleSharedMs : idleMs) && wallet.idle;
  }

  #drop(wallet: Wallet): void {
    for (const id of wallet.takeAll()) {
      this.ended.add(id);
    }
    this.#wallets.delete(wallet.accountId);
  }

  async #closeEnded(): Promise<void> {
    if (this.ended.size === 0) {
      return;
    }
    const ids = [...this.ended];
    await this.#store.close(ids);
    for (const id of ids) {
      this.ended.delete(id);
    }
  }

  /** Gives everything back that no running request needs. */
  async close(): Promise<void> {
    for (const wallet of this.#wallets.values()) {
      await wallet.moving;
      await this.payDebt(wallet).catch((error: unknown) =>
        this.#logger.warn({ error }, "a debt could not be paid yet"),
      );
    }
    for (const wallet of this.#wallets.values()) {
      if (wallet.idle) {
        this.#drop(wallet);
      }
    }
    await this.#closeEnded();
  }
}
