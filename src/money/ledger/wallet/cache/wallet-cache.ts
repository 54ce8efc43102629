import type { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announcements } from "../../../model/announcements.ts";
import type { MeteringObserver } from "../../../model/observer.ts";
import type { LeasedSlice, StoredSlice, WalletStore } from "../../../model/store/wallet.ts";
import type { PriceBook } from "../../../prices/price-book.ts";
import { EndedSlices } from "../../refill/ended-slices.ts";
import type { Debts } from "../debts.ts";
import { Wallet } from "../wallet.ts";
import { CachedWallet, type Dependencies as CachedWalletDependencies } from "./cached-wallet.ts";
import { LeaseBatch } from "./lease-batch.ts";
import { type AuditedWallets, SliceAudit } from "./slice-audit.ts";

interface Dependencies {
  readonly store: WalletStore & Announcements;
  readonly debts: Debts;
  readonly book: PriceBook;
  /** Tells that the store cannot be asked. */
  readonly outage: Outage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "broken">;
}

/** A wallet that is being filled for the first time. */
interface Opening {
  readonly cached: CachedWallet;
  readonly filled: Promise<CachedWallet>;
}

/** The wallets of all accounts that use this core. */
export class WalletCache implements AuditedWallets {
  readonly #store: WalletStore & Announcements;
  readonly #book: PriceBook;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #observer: Pick<MeteringObserver, "broken">;
  readonly #parts: CachedWalletDependencies;
  readonly #wallets = new Map<string, CachedWallet>();
  readonly #opening = new Map<string, Opening>();
  readonly #audit: SliceAudit;
  readonly #ended: EndedSlices;
  /** Slices of earlier processes, which charges of those processes still need. */
  readonly #adopted = new Set<string>();
  /** The accounts of slices that are still to be closed, now or later. */
  readonly #accounts = new Map<string, string>();

  constructor({ store, debts, book, outage, clock, logger, observer }: Dependencies) {
    this.#store = store;
    this.#book = book;
    this.#clock = clock;
    this.#logger = logger;
    this.#observer = observer;
    this.#ended = new EndedSlices((ids) => this.#close(ids), logger);
    this.#audit = new SliceAudit({ store, wallets: this, logger });
    this.#parts = { store, debts, leases: new LeaseBatch(store, clock), audit: this.#audit, outage, clock, logger };
  }

  /** The wallets in memory. */
  get all(): ReadonlyMap<string, CachedWallet> {
    return this.#wallets;
  }

  get ended(): ReadonlySet<string> {
    return new Set([...this.#ended.ids, ...this.#adopted]);
  }

  /** An account's wallet if it is in memory. */
  find(accountId: string): CachedWallet | undefined {
    return this.#wallets.get(accountId);
  }

  /** An account's wallet. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  open(accountId: string): Promise<CachedWallet> {
    const cached = this.#wallets.get(accountId);
    if (cached !== undefined) {
      return Promise.resolve(cached);
    }
    return this.#opening.get(accountId)?.filled ?? this.#open(accountId);
  }

  /** An account's wallet if it is in memory, once it has money. Throws as `open`. */
  async opened(accountId: string): Promise<CachedWallet | undefined> {
    return this.#wallets.get(accountId) ?? this.#opening.get(accountId)?.filled;
  }

  #open(accountId: string): Promise<CachedWallet> {
    const wallet = new Wallet(accountId, this.#book, (error) => {
      this.#observer.broken();
      this.#logger.error({ error, accountId }, "an account's money moved as it never may: it is refused from now on");
    });
    const cached = new CachedWallet(wallet, this.#parts);
    const filled = this.#fill(cached).finally(() => this.#opening.delete(accountId));
    this.#opening.set(accountId, { cached, filled });
    return filled;
  }

  async #fill(cached: CachedWallet): Promise<CachedWallet> {
    await cached.fill();
    this.#wallets.set(cached.wallet.accountId, cached);
    return cached;
  }

  /** Notes that an account's money may have changed: the next request that lacks some looks. */
  doubt(accountId: string): void {
    this.#wallets.get(accountId)?.doubt();
    this.#opening.get(accountId)?.cached.doubt(); // what it is filled with may be of before
  }

  /** Notes that any account's money may have changed. */
  doubtAll(): void {
    for (const accountId of [...this.#wallets.keys(), ...this.#opening.keys()]) {
      this.doubt(accountId);
    }
  }

  /** Tells the other cores that an account's money has changed or is wanted. */
  async announce(accountId: string): Promise<void> {
    if (this.#store.shared) {
      await this.#store.announce(accountId);
    }
  }

  /**
   * Notes a debt that the account's money here could not pay. Free money on other cores is to pay the rest, now and
   * later.
   */
  owe(accountId: string, shortfall: number): void {
    const cached = this.#wallets.get(accountId);
    if (cached !== undefined) {
      cached.wallet.owe(shortfall);
      cached.freed();
    }
    this.announce(accountId).catch((error: unknown) => this.#logger.warn({ error }, "a debt was not announced"));
  }

  /** Forgets slices that are no longer this core's. */
  lose({ wallet }: CachedWallet, sliceIds: readonly string[]): void {
    wallet.lose(new Set(sliceIds));
    this.#end(wallet, sliceIds); // closed in the store if they are still this core's
  }

  #end({ accountId }: Wallet, sliceIds: readonly string[]): void {
    for (const id of sliceIds) {
      this.#accounts.set(id, accountId);
    }
    this.#ended.add(sliceIds);
  }

  /** The accounts may have new wallets by now, which found the money still leased. */
  async #close(sliceIds: readonly string[]): Promise<void> {
    await this.#store.close(sliceIds);
    for (const id of sliceIds) {
      const accountId = this.#accounts.get(id);
      if (accountId !== undefined) {
        this.#accounts.delete(id);
        this.doubt(accountId);
      }
    }
  }

  /** Compares this core's slices with the store's, and corrects differences. */
  async audit(): Promise<void> {
    await Promise.allSettled(Array.from(this.#opening.values(), ({ filled }) => filled));
    await this.#audit.run();
  }

  /** This core's open slices that it does not know. */
  unknownSlices(): Promise<StoredSlice[]> {
    return this.#audit.unknown();
  }

  /** Keeps the slices of earlier processes open until they are closed by id: their charges come first. */
  adopt(slices: readonly Pick<LeasedSlice, "id" | "accountId">[]): void {
    for (const { id, accountId } of slices) {
      this.#adopted.add(id);
      this.#accounts.set(id, accountId);
    }
  }

  /** Closes slices that no wallet has, now or as soon as the store can be reached. */
  closeSlices(sliceIds: readonly string[]): Promise<void> {
    for (const id of sliceIds) {
      this.#adopted.delete(id);
    }
    return this.#ended.closeSoon(sliceIds);
  }

  /** Closes slices that are used up, gives back expired and idle money, and finds out the outcome of failed calls. */
  async tidy(): Promise<void> {
    const now = this.#clock.now();
    for (const cached of this.#sound()) {
      const { wallet } = cached;
      if (cached.unused) {
        this.#drop(wallet);
      } else if (wallet.hasExpired(now) && cached.moving === undefined) {
        void cached.returnExpired();
      }
      this.#end(wallet, wallet.takeDrained());
      if (wallet.canPayDebt && cached.moving === undefined) {
        cached.freed();
      }
      if (wallet.rates.old) {
        await wallet.rates.renew();
      }
    }
    await this.#ended.close();
    await this.#audit.clearAll();
  }

  /**
   * Wallets whose money may be moved. A broken wallet stays as it is until the process ends, and its slices stay open.
   */
  #sound(): CachedWallet[] {
    return [...this.#wallets.values()].filter(({ wallet }) => !wallet.broken);
  }

  #drop(wallet: Wallet): void {
    this.#end(wallet, wallet.takeAll());
    this.#wallets.delete(wallet.accountId);
  }

  /** Gives back everything that no running request needs. */
  async close(): Promise<void> {
    for (const cached of this.#sound()) {
      await cached.moving;
      await cached.payDebt().catch((error: unknown) => this.#logger.warn({ error }, "a debt could not be paid yet"));
    }
    for (const cached of this.#sound()) {
      if (cached.idle) {
        this.#drop(cached.wallet);
      }
    }
    await this.#ended.close();
  }
}
