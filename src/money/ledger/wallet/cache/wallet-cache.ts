import type { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announcements } from "../../../model/announcements.ts";
import type { MeteringObserver } from "../../../model/observer.ts";
import type { StoredSlice, WalletStore } from "../../../model/store/wallet.ts";
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

/** The wallets of all accounts that use this core. */
export class WalletCache implements AuditedWallets {
  readonly #store: WalletStore & Announcements;
  readonly #book: PriceBook;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #observer: Pick<MeteringObserver, "broken">;
  readonly #parts: CachedWalletDependencies;
  readonly #wallets = new Map<string, CachedWallet>();
  readonly #opening = new Map<string, Promise<CachedWallet>>();
  readonly #audit: SliceAudit;
  readonly #ended: EndedSlices;

  constructor({ store, debts, book, outage, clock, logger, observer }: Dependencies) {
    this.#store = store;
    this.#book = book;
    this.#clock = clock;
    this.#logger = logger;
    this.#observer = observer;
    this.#ended = new EndedSlices((ids) => store.close(ids), logger);
    this.#audit = new SliceAudit({ store, wallets: this, logger });
    this.#parts = { store, debts, leases: new LeaseBatch(store, clock), audit: this.#audit, outage, clock, logger };
  }

  /** The wallets in memory. */
  get all(): ReadonlyMap<string, CachedWallet> {
    return this.#wallets;
  }

  get ended(): ReadonlySet<string> {
    return this.#ended.ids;
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
    let opening = this.#opening.get(accountId);
    if (opening === undefined) {
      opening = this.#open(accountId).finally(() => this.#opening.delete(accountId));
      this.#opening.set(accountId, opening);
    }
    return opening;
  }

  async #open(accountId: string): Promise<CachedWallet> {
    const wallet = new Wallet(accountId, this.#book, (error) => {
      this.#observer.broken();
      this.#logger.error({ error, accountId }, "an account's money moved as it never may: it is refused from now on");
    });
    const cached = new CachedWallet(wallet, this.#parts);
    await cached.fill();
    this.#wallets.set(accountId, cached);
    return cached;
  }

  /** Notes that any account's money may have changed: the next request that lacks some looks. */
  doubtAll(): void {
    for (const cached of this.#wallets.values()) {
      cached.doubt();
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
    this.#ended.add(sliceIds); // closed in the store if they are still this core's
  }

  /** Compares this core's slices with the store's, and corrects differences. */
  async audit(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await this.#audit.run();
  }

  /** This core's open slices that it does not know. */
  unknownSlices(): Promise<StoredSlice[]> {
    return this.#audit.unknown();
  }

  /** Closes slices that no wallet has, now or as soon as the store can be reached. */
  closeSlices(sliceIds: readonly string[]): Promise<void> {
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
      this.#ended.add(wallet.takeDrained());
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
    this.#ended.add(wallet.takeAll());
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
