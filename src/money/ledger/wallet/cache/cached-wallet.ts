import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announcements } from "../../../model/announcements.ts";
import type { PicoUsd } from "../../../model/interface.ts";
import type { LeaseRequest, SmallerSlice, WalletStore } from "../../../model/store/wallet.ts";
import { idleMs, idleSharedMs, lookAgainMs } from "../../refill/intervals.ts";
import { Refill, type RefillSource } from "../../refill/refill.ts";
import type { Debts } from "../debts.ts";
import { WaitQueue } from "../wait-queue.ts";
import type { Wallet } from "../wallet.ts";
import type { LeaseBatch } from "./lease-batch.ts";
import type { SliceAudit } from "./slice-audit.ts";
import { mostLeased, SliceSize } from "./slice-size.ts";

/** How old the funding state that a rate limit depends on may be. */
const standingMs = 20_000;
const notLookedUp = "an account could not be looked up";

export interface Dependencies {
  readonly store: WalletStore & Announcements;
  readonly debts: Debts;
  readonly leases: LeaseBatch;
  readonly audit: SliceAudit;
  /** Tells that the store cannot be asked. */
  readonly outage: Outage;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A wallet with the requests that wait for its money. Keeps it filled: leases money, gives it back, and pays the
 * account's debt.
 */
export class CachedWallet {
  readonly wallet: Wallet;
  /** Requests that wait for this money. */
  readonly queue: WaitQueue;
  readonly #parts: Dependencies;
  readonly #sliceSize: SliceSize;
  readonly #refill: Refill;

  constructor(wallet: Wallet, parts: Dependencies) {
    const { store, audit, outage, clock, logger } = parts;
    this.wallet = wallet;
    this.#parts = parts;
    this.#sliceSize = new SliceSize(store.shared);
    this.queue = new WaitQueue(clock, store.shared ? lookAgainMs : Number.POSITIVE_INFINITY);
    const source: RefillSource = {
      growsUnheard: store.shared,
      wish: (least) => Math.max(least, this.#sliceSize.next()),
      clear: () => this.#refill.ask(() => audit.clear(this)),
      lease: (least, most) => this.#lease(least, most),
      lost: () => audit.doubt(wallet.accountId),
    };
    this.#refill = new Refill(wallet, source, { announcements: store, outage, clock, logger });
  }

  /** Set while the store moves this account's money. Never rejects. */
  get moving(): Promise<void> | undefined {
    return this.#refill.moving;
  }

  /** Whether nothing runs on this wallet and no money is moving in the store. */
  get idle(): boolean {
    return this.wallet.idle && this.queue.empty && this.#refill.idle;
  }

  /** Whether it has been idle for so long that its money is better given back. */
  get unused(): boolean {
    const poor = this.#parts.store.shared && this.wallet.unleased === 0n;
    return this.#refill.sinceUse >= (poor ? idleSharedMs : idleMs) && this.idle;
  }

  /** Leases the first money. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  async fill(): Promise<void> {
    await this.#refill.look(0);
    this.used();
  }

  /** Notes that the wallet is in use, and leases more in the background before it runs out. */
  used(): void {
    this.#refill.used();
    const low = this.wallet.unleased > 0n && this.wallet.free < this.#sliceSize.low;
    if (low && this.#refill.looking === undefined) {
      this.#refill.inBackground(this.#refill.look(1), notLookedUp);
    }
  }

  /** Notes that the account's money has changed, or may have. */
  doubt(): void {
    this.#refill.doubt();
  }

  /** Leases at least this much more. Returns whether there may be more than before. Throws as `fill`. */
  lease(least: PicoUsd): Promise<boolean> {
    return this.#refill.lease(least);
  }

  /** Looks at the account's money anew. When other cores may want it, too, nothing is leased before it is needed. */
  async refresh(): Promise<void> {
    while (this.#refill.looking !== undefined) {
      await this.#refill.looking;
    }
    await this.#refill.look(0, this.#parts.store.shared ? 0 : mostLeased);
    this.doubt();
    // The new money may come earlier in the spending order than the rest, which then need not stay here.
    await this.alone(() => this.#giveBack(this.wallet.takeSurplus()));
  }

  /** Money came or went: what is free of the credit line goes back first, so that other money is spent before it. */
  async moneyMoved(): Promise<void> {
    this.doubt(); // at once: whoever asks meanwhile looks, too
    await this.alone(() => this.#giveBack(this.wallet.takeFree(({ kind }) => kind === "credit")));
    await this.refresh();
  }

  /** Looks at the account's money anew in the background, when the last look was long ago. */
  refreshIfOld(): void {
    const old = this.#parts.store.shared && this.#refill.sinceLook >= standingMs;
    if (old && this.#refill.looking === undefined) {
      this.#refill.inBackground(this.refresh(), notLookedUp);
    }
  }

  /** Runs a function while nothing else moves the wallet's money in the store. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.#refill.alone(run);
  }

  /** Leases money and pays the account's debt with it. Call it while nothing else moves the wallet's money. */
  async #lease(least: PicoUsd, wish: PicoUsd): Promise<boolean> {
    const most = Math.min(wish, mostLeased - this.wallet.available);
    const { accountId } = this.wallet;
    const found = await this.#refill.move(() => this.#acquire({ accountId, least: Math.min(least, most), most }));
    if (found === undefined) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    return (await this.#payDebt()) || found > 0;
  }

  /** Leases money into the wallet. Returns how many slices came. Undefined: there is no such account. */
  async #acquire(request: LeaseRequest): Promise<number | undefined> {
    const { owed } = this.wallet;
    const lease = await this.#parts.leases.acquire(request);
    if (lease === undefined) {
      return undefined;
    }
    await this.wallet.rates.loadFor(lease);
    this.wallet.add(lease, owed);
    return lease.slices.length;
  }

  /** Pays the account's debt out of its free money, as far as there is any. Returns whether anything was paid. */
  payDebt(): Promise<boolean> {
    return this.alone(() => this.#payDebt());
  }

  /** Call it while nothing else moves the wallet's money. Returns whether anything was paid. */
  async #payDebt(): Promise<boolean> {
    if (!this.wallet.canPayDebt) {
      return false;
    }
    const { accountId } = this.wallet;
    await this.#giveBack(this.wallet.takeFree());
    const paid = await this.#refill.ask(() => this.#parts.debts.pay(accountId));
    await this.#refill.move(() => this.#acquire({ accountId, least: 0, most: 0 }));
    return paid > 0;
  }

  /** Money of the wallet became free: it pays the account's debt, or lets the next request in. */
  freed(): void {
    if (this.wallet.canPayDebt) {
      const paid = this.payDebt().then(() => this.queue.changed());
      this.#refill.inBackground(paid, notLookedUp);
    } else {
      this.queue.changed();
    }
  }

  /** Gives back money that was taken out of the wallet. Call it while nothing else moves the wallet's money. */
  async #giveBack(slices: readonly SmallerSlice[]): Promise<void> {
    if (slices.length > 0) {
      await this.#refill.move(() => this.#parts.store.giveBack(slices));
    }
  }

  /** Gives back expired money that nobody holds. Never rejects: a failure is corrected later. */
  async returnExpired(): Promise<void> {
    try {
      await this.alone(() => this.#giveBack(this.wallet.takeExpired(this.#parts.clock.now())));
    } catch (error) {
      this.#parts.logger.warn({ error }, "expired money could not be given back yet");
    }
  }

  /** Gives the account's free money back, and leases none while a function runs. */
  async withFreeReturned<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.alone(async () => {
        await this.#refill.ask(() => this.#parts.audit.clear(this));
        await this.#giveBack(this.wallet.takeFree());
        return await run();
      });
    } finally {
      this.doubt();
      this.queue.changed();
    }
  }

  /**
   * Another core says that the account's money has changed or is wanted: gives free money back and looks anew. When
   * free money was given, requests that wait here look again a little later, so that two cores that lack money do not
   * take it from each other in turns.
   */
  announced(): void {
    this.doubt();
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
    this.#refill.inBackground(done, notLookedUp);
  }
}
