import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Random } from "../../../lib/ids/random.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { repeat } from "../../../lib/time/repeat.ts";
import type { Debts } from "../books/debts.ts";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import type {
  ChargedTokens,
  FundingState,
  Hold,
  HoldRequest,
  Ledger,
  LedgerState,
  MeteringObserver,
  PicoUsd,
  Prices,
  Rates,
  SettleStatus,
} from "../interface.ts";
import type { Journal, JournalEntry, JournalRemains } from "../journal/journal.ts";
import type { PriceList } from "../prices/prices.ts";
import type { Charge, LedgerStore, StoredCharge, StoredSlice } from "../store/ledger-store.ts";
import { admitShort } from "./admission.ts";
import { CoreLease } from "./core/core-lease.ts";
import { awaitPredecessors } from "./core/predecessors.ts";
import { type HoldKeeper, RunningHold } from "./hold.ts";
import { RecentRequests } from "./recent-requests.ts";
import { type Run, requestKey, runKey } from "./run.ts";
import { findFault, toChargeable } from "./settlement/charge-faults.ts";
import { toRest } from "./settlement/run-rest.ts";
import { Settler } from "./settlement/settler.ts";
import { unavailable } from "./unavailable.ts";
import { costOf } from "./wallet/split.ts";
import type { Wallet } from "./wallet/wallet.ts";
import { WalletCache } from "./wallet/wallet-cache.ts";

/** How long a request waits for money that others of its account hold. */
const patienceMs = 2000;
/** A killed process is billed what was noted at most this long before. */
const noteMs = 1000;
const tidyMs = 1000;
/** How often what this core knows of its slices is compared with what the store says. */
const auditMs = 60_000;
/** A start waits so long for what an earlier process left behind; what takes longer is charged while requests run. */
const recoveryMs = 10_000;
/** Runs that the store is asked for at once. */
const askedAtOnce = 1000;

/** What the ledger is made of. */
export interface LedgerParts {
  readonly store: LedgerStore;
  readonly prices: Prices & Pick<PriceList, "book" | "last">;
  readonly journal: Journal;
  readonly deadLetters: DeadLetters;
  readonly debts: Debts;
  readonly clock: Clock;
  /** Makes run ids. */
  readonly random: Random;
  readonly logger: Logger;
  readonly observer: MeteringObserver;
}

/** The ledger, with what the other parts of metering need of it. */
export interface CoreLedger extends Ledger {
  /** What running requests of the account hold on this core. */
  held(accountId: string): PicoUsd;
  /** How it stands. Takes time with the number of running requests. */
  state(): LedgerState;
  /** The open slices that the store says are this core's and that it does not know; none while all is well. */
  unknownSlices(): Promise<StoredSlice[]>;
  /** Looks at the account's money again, after some came in or may have. Never fails: what is not seen now is later. */
  refresh(accountId: string): Promise<void>;
  /** Runs a function while none of the account's money is leased here but what running requests hold. */
  withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T>;
  /**
   * Makes a charge for what nothing is held for, and settles it: what the account has left pays, the rest is owed. Does
   * nothing when the request was charged before. Throws ACCOUNT_NOT_FOUND, MODEL_NOT_FOUND, INVALID_ARGUMENT,
   * LEDGER_UNAVAILABLE.
   */
  settleLate(charge: Charge): Promise<void>;
}

/** Opens the ledger: recovers what an earlier process of this core left behind, then takes requests. */
export async function createLedger(parts: LedgerParts): Promise<CoreLedger> {
  const ledger = new SliceLedger(parts);
  await ledger.recover();
  ledger.workInBackground();
  return ledger;
}

class SliceLedger implements CoreLedger, HoldKeeper {
  readonly journal: Journal;
  readonly #store: LedgerStore;
  readonly #debts: Debts;
  readonly #prices: LedgerParts["prices"];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #observer: MeteringObserver;
  readonly #settler: Settler;
  readonly #wallets: WalletCache;
  /** Requests from their admission until their charge is stored, by requestKey. */
  readonly #running = new Map<string, RunningHold>();
  readonly #recent: RecentRequests;
  readonly #coreLease: CoreLease;
  readonly #announced = (accountId: string) => this.#wallets.announced(accountId);
  #stopWork = () => {};
  #closing = false;
  #closed: Promise<void> | undefined;

  constructor({ store, debts, prices, journal, deadLetters, clock, random, logger, observer }: LedgerParts) {
    this.journal = journal;
    this.#store = store;
    this.#debts = debts;
    this.#prices = prices;
    this.#clock = clock;
    this.#random = random;
    this.#logger = logger;
    this.#observer = observer;
    this.#recent = new RecentRequests(clock);
    this.#coreLease = new CoreLease({ store, clock, logger });
    this.#wallets = new WalletCache({ store, debts, book: prices.book, clock, logger });
    this.#settler = new Settler({ store, journal, deadLetters, clock, logger, observer, events: this });
  }

  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    try {
      this.#admitsAny();
      const wallet = this.#wallets.find(request.accountId);
      const isFree = wallet?.queue.empty && wallet.debt === 0n && !wallet.hasExpired(this.#clock.now());
      if (isFree && this.#recent.isNew(request)) {
        const rates = wallet.maxRates(request.model);
        if (rates !== undefined && fits(wallet, rates, request)) {
          return Promise.resolve(this.#grant(wallet, request, rates, request));
        }
      }
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#holdSlowly(request, signal);
  }

  #admitsAny(): void {
    if (this.#closing) {
      throw failure(Reason.SHUTTING_DOWN, "This replica is shutting down.");
    }
    if (!this.#works) {
      throw unavailable("Usage cannot be recorded at the moment.");
    }
  }

  /** Whether usage can be recorded. */
  get #works(): boolean {
    return !this.#settler.overdue && this.journal.healthy && this.#coreLease.isValid;
  }

  async #holdSlowly(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    const { accountId, requestId } = request;
    if (!this.#recent.isNew(request) && (await this.#store.isCharged(accountId, requestId))) {
      throw duplicate(request);
    }
    const wallet = await this.#wallets.open(request.accountId);
    const ticket = wallet.queue.enter(patienceMs, signal);
    try {
      let wanted: ChargedTokens = request;
      let count = request.countInput;
      for (;;) {
        const inTime = await ticket.turn();
        await this.#wallets.payDebt(wallet);
        let rates = await this.#fund(wallet, request.model, wanted);
        if (!fits(wallet, rates, wanted) && count !== undefined) {
          const inputTokens = Math.min(request.inputTokens, (await count()) ?? request.inputTokens);
          wanted = { inputTokens, outputTokens: request.outputTokens };
          count = undefined;
          rates = await this.#fund(wallet, request.model, wanted);
        }
        if (fits(wallet, rates, wanted)) {
          return this.#grant(wallet, request, rates, wanted);
        }
        const short = admitShort(wallet, rates, wanted, !inTime);
        if (short !== undefined) {
          return this.#grant(wallet, request, rates, short);
        }
      }
    } finally {
      ticket.leave();
    }
  }

  /**
   * Leases what a request lacks at the given terms, as far as there is money. Without any it is at the rates of all the
   * money, or what others there are when there is none. Returns the rates.
   */
  async #fund(
    wallet: Wallet,
    model: string,
    wanted: ChargedTokens,
    terms?: Rates,
    otherwise = () => this.#prices.live(model),
  ): Promise<Rates> {
    for (;;) {
      if (wallet.hasExpired(this.#clock.now())) {
        await this.#wallets.returnExpired(wallet);
      }
      const now = wallet.maxRates(model);
      const rates = terms ?? now;
      if (now === undefined || rates === undefined) {
        await wallet.loadRates(model);
      } else if (fits(wallet, rates, wanted)) {
        return rates;
      } else if (!(await this.#wallets.lease(wallet, Math.max(1, costOf(wanted, rates) - wallet.free)))) {
        return terms ?? (wallet.available > 0 ? rates : otherwise());
      }
    }
  }

  #grant(wallet: Wallet, request: HoldRequest, rates: Rates, tokens: ChargedTokens): RunningHold {
    const key = requestKey(request);
    if (this.#running.has(key)) {
      throw duplicate(request);
    }
    this.#admitsAny();
    const { requestId, accountId, keyId, model } = request;
    const run = { requestId, runId: this.#random.uuid(), accountId, keyId, model };
    const hold = new RunningHold(this, wallet, run, rates, tokens);
    this.#running.set(key, hold);
    this.#wallets.used(wallet);
    return hold;
  }

  async charge(hold: RunningHold, counted: ChargedTokens, status: SettleStatus): Promise<void> {
    const { wallet, request } = hold;
    const tokens = toChargeable(counted, hold.admitted, hold.rates);
    if (tokens !== counted) {
      this.#logger.error(
        { requestId: request.requestId, model: request.model, counted, charged: tokens },
        "an engine's count can be no charge: what was admitted is charged at most",
      );
    }
    // What is free is below zero when slices were lost: then nothing stands behind the holds.
    const excess = () => costOf(tokens, hold.rates) - hold.amount - wallet.free;
    while (excess() > 0 && (await this.#wallets.lease(wallet, excess()).catch(() => false))) {}
    hold.free(); // the charge may use whatever is free
    const payment = wallet.charge(request.model, tokens, hold.rates);
    if (payment.shortfall > 0) {
      this.#logger.error(
        { requestId: request.requestId, shortfall: payment.shortfall },
        "a request cost more than could be held",
      );
    }
    this.freed(wallet);
    await this.#settler.settle({
      requestId: request.requestId,
      runId: request.runId,
      accountId: request.accountId,
      keyId: request.keyId,
      model: request.model,
      inputTokens: tokens.inputTokens,
      outputTokens: tokens.outputTokens,
      cost: payment.cost,
      shortfall: payment.shortfall,
      status,
      settledAt: this.#clock.now(),
      maxRates: hold.rates,
      lines: payment.lines,
    });
  }

  superseded(charge: Charge): void {
    this.#wallets.find(charge.accountId)?.revert(charge.lines);
  }

  settled(charge: Charge, outcome: "stored" | "covered" | "repeated" | "refused", run: Run): void {
    const wallet = this.#wallets.find(charge.accountId);
    if (outcome === "stored") {
      wallet?.committed(charge.lines);
      this.#observer.charged(charge.model, charge.cost, charge.shortfall, charge.status);
      if (charge.shortfall > 0) {
        this.#owes(charge);
      }
    } else {
      wallet?.revert(charge.lines);
      if (outcome === "refused") {
        this.#observer.deadLettered(charge.model);
      } else if (outcome === "repeated") {
        this.#observer.uncharged(charge.model);
        this.#logger.error({ requestId: charge.requestId }, "a request was run but not charged");
      }
    }
    const key = requestKey(charge);
    if (this.#running.get(key)?.request.runId === run.runId) {
      this.#running.delete(key);
    }
    this.#recent.add(charge);
    this.journal.forget(run);
    if (charge.runId !== run.runId) {
      this.journal.forget(charge); // the rest of the run may have been promised
    }
  }

  async fenced(charge: Charge): Promise<Charge> {
    if (charge.lines.length > 0) {
      this.#observer.fenced();
      this.#logger.warn({ requestId: charge.requestId }, "a charge came after its slices were lost");
    }
    const wallet = await this.#wallets.open(charge.accountId);
    this.#wallets.lose(
      wallet,
      charge.lines.map((line) => line.sliceId),
    );
    return this.#chargeLate(wallet, charge);
  }

  /** Makes a charge for tokens that nothing is held for, at the terms of their admission: what is free pays, the rest is owed. */
  async #chargeLate(wallet: Wallet, charge: Charge): Promise<Charge> {
    const maxRates = await this.#fund(wallet, charge.model, charge, charge.maxRates, () =>
      this.#prices.last(charge.model),
    );
    if (!Number.isSafeInteger(costOf(charge, maxRates))) {
      throw failure(Reason.INVALID_ARGUMENT, "The tokens cost more than one receipt can hold.");
    }
    return { ...charge, maxRates, ...wallet.charge(charge.model, charge, maxRates) };
  }

  async settleLate(charge: Charge): Promise<void> {
    if ((await this.#store.settled([charge])).size > 0) {
      return;
    }
    const fault = findFault(charge);
    if (fault !== undefined) {
      throw failure(Reason.INVALID_ARGUMENT, `The charge cannot be stored: ${fault}.`);
    }
    const wallet = await this.#wallets.open(charge.accountId);
    await this.#settler.settle(await this.#chargeLate(wallet, { ...charge, settledAt: this.#clock.now() }));
  }

  forget(hold: RunningHold): void {
    this.#running.delete(requestKey(hold.request));
    this.journal.forget(hold.request);
  }

  freed(wallet: Wallet): void {
    this.#wallets.freed(wallet);
  }

  /** An account owes what no money was left for here: what others have of it free is to pay that, and what comes free. */
  #owes({ accountId, shortfall }: Charge): void {
    const wallet = this.#wallets.find(accountId);
    if (wallet !== undefined) {
      wallet.debt += BigInt(shortfall);
      this.freed(wallet);
    }
    this.#announce(accountId).catch((error: unknown) => this.#logger.warn({ error }, "a debt was not announced"));
  }

  async fundingState(accountId: string): Promise<FundingState> {
    const wallet = this.#wallets.find(accountId) ?? (await this.#wallets.open(accountId));
    this.#wallets.refreshIfOld(wallet);
    return wallet.fundingState;
  }

  held(accountId: string): PicoUsd {
    return this.#wallets.find(accountId)?.held ?? 0;
  }

  state(): LedgerState {
    const open = [...this.#running.values()].filter((hold) => hold.open);
    return {
      holds: open.length,
      held: open.reduce((sum, hold) => sum + hold.amount, 0),
      backlog: this.#settler.backlog,
      journalBytes: this.journal.size,
      journalSetAside: this.journal.setAside,
      admits: !this.#closing && this.#works,
    };
  }

  unknownSlices(): Promise<StoredSlice[]> {
    return this.#wallets.unknownSlices();
  }

  async refresh(accountId: string): Promise<void> {
    try {
      const wallet = this.#wallets.find(accountId);
      await Promise.all([this.#announce(accountId), wallet && this.#wallets.refresh(wallet)]);
      wallet?.queue.changed();
    } catch (error) {
      this.#logger.warn({ error, accountId }, "money that came in could not be looked up yet");
    }
  }

  async #announce(accountId: string): Promise<void> {
    if (this.#store.shared) {
      await this.#store.announce(accountId);
    }
  }

  async withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T> {
    await this.#announce(accountId);
    return this.#wallets.withFreeReturned(accountId, run);
  }

  /**
   * Charges what was promised or running when an earlier process died, and takes its money back. Each record stands for
   * itself: what cannot be charged goes to the dead letters, and what the store does not take yet is tried again while
   * requests run.
   */
  async recover(): Promise<void> {
    await this.#store.listen(this.#announced);
    const databaseId = await this.#store.identify();
    const remains = await this.journal.read(databaseId);
    if (remains.charges.length + remains.running.length > 0) {
      await awaitPredecessors({ store: this.#store, clock: this.#clock, logger: this.#logger }, this.journal.instance);
    }
    const entered = await this.#store.enter({ instance: this.journal.instance, after: remains.epoch });
    this.journal.begin({ databaseId, epoch: entered.epoch });
    const adopted = entered.adopted.map((slice) => slice.id);
    await this.#coreLease.renew();
    const left = { slices: adopted.length, promised: remains.charges.length, running: remains.running.length };
    if (left.slices + left.promised + left.running === 0) {
      return;
    }
    const done = this.#chargeRemains(adopted, remains).then(() =>
      this.#logger.warn(left, "recovered what an earlier process of this core left behind"),
    );
    await Promise.race([done, new Promise<void>((resolve) => this.#clock.after(recoveryMs, resolve))]);
  }

  async #chargeRemains(adopted: readonly string[], { charges, running }: JournalRemains): Promise<void> {
    const outcomes = await Promise.all(charges.map((charge) => this.#settler.recover(charge)));
    await this.#wallets.closeSlices(adopted); // the charges may still have needed them; what is left pays the others
    const fenced = charges.filter((_, at) => outcomes[at] === "fenced");
    const known = await this.#askSettled(running);
    const settledAt = this.#clock.now();
    const late = running.flatMap((entry) => {
      const { inputTokens, outputTokens } = entry.tokens;
      const charge = toRecovered(entry, settledAt);
      const stored = known.get(runKey(entry));
      const due = stored === undefined ? inputTokens !== 0 || outputTokens !== 0 : toRest(charge, stored) !== undefined;
      if (due) {
        return [charge];
      }
      this.journal.forget(entry);
      return [];
    });
    await Promise.all([...fenced, ...late].map((charge) => this.#settler.remake(charge)));
  }

  /** Which of the runs have been charged, as far as the store can be asked: it takes no charge twice anyway. */
  async #askSettled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    const known = new Map<string, StoredCharge>();
    for (let at = 0; at < runs.length; at += askedAtOnce) {
      try {
        for (const [key, stored] of await this.#store.settled(runs.slice(at, at + askedAtOnce))) {
          known.set(key, stored);
        }
      } catch (error) {
        this.#logger.warn({ error }, "the store could not say what has been charged");
      }
    }
    return known;
  }

  workInBackground(): void {
    const noting = repeat(this.#clock, noteMs, this.#logger, "note running requests", async () => {
      for (const hold of this.#running.values()) {
        hold.note();
      }
    });
    const tidying = repeat(this.#clock, tidyMs, this.#logger, "tidy the ledger", async () => {
      if (!(await this.#coreLease.renew())) {
        await this.#wallets.audit();
      }
      await this.#store.listen(this.#announced);
      await this.#wallets.tidy();
    });
    const auditing = repeat(this.#clock, auditMs, this.#logger, "compare slices with the store", () =>
      this.#wallets.audit(),
    );
    const paying = repeat(this.#clock, auditMs, this.#logger, "pay debts", () => this.#debts.payAll());
    this.#stopWork = () => {
      noting();
      tidying();
      auditing();
      paying();
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing = true;
    this.#stopWork();
    await this.#settler.close();
    await this.#wallets.close();
    await this.#store.end();
    await this.journal.close();
  }
}

/** The charge for a request that ran when its core died, still without money. */
function toRecovered(entry: JournalEntry, settledAt: number): Charge {
  const { requestId, runId, accountId, keyId, model, tokens, maxRates } = entry;
  const { inputTokens, outputTokens } = tokens;
  return {
    ...{ requestId, runId, accountId, keyId, model, inputTokens, outputTokens },
    ...{ cost: 0, shortfall: 0, status: "recovered", settledAt, lines: [] },
    ...(maxRates === undefined ? {} : { maxRates }),
  };
}

/** Whether the free money pays the worst case. Free tokens need an account with money too. */
function fits(wallet: Wallet, rates: Rates, tokens: ChargedTokens): boolean {
  return wallet.available > 0 && costOf(tokens, rates) <= wallet.free;
}

function duplicate(request: HoldRequest) {
  return failure(Reason.DUPLICATE_REQUEST, `A request with the id ${request.requestId} was already run.`, {
    parameter: "request_id",
  });
}
