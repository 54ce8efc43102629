import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Outage } from "#lib/errors/outage.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { andThen } from "#lib/time/and-then.ts";
import type { Clock } from "#lib/time/clock.ts";
import { endAll } from "#lib/time/end-all.ts";
import type { Budget } from "#src/wire/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { Heard } from "../model/announcements.ts";
import { toWindowRequest, windowAt } from "../model/budget-window.ts";
import type { Charge } from "../model/charges/charge.ts";
import type { BudgetPart, CoreLedger } from "../model/core-ledger.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { BudgetState, FundingState, Hold, HoldRequest, LedgerState } from "../model/ledger.ts";
import type { MeteringObserver } from "../model/observer.ts";
import type { Prices } from "../model/rates.ts";
import type { LedgerStore } from "../model/store/ledger.ts";
import type { StoredSlice } from "../model/store/wallet.ts";
import { unavailable } from "../model/unavailable.ts";
import type { PriceList } from "../prices/price-list.ts";
import { Admission } from "./admission/admission.ts";
import { BudgetCache } from "./budget/budget-cache.ts";
import { CoreLease } from "./core/core-lease.ts";
import { recover } from "./recovery.ts";
import { RunningRequests } from "./running-requests.ts";
import { findFault } from "./settlement/charge-faults.ts";
import { Conclusions } from "./settlement/conclusions.ts";
import type { DeadLetters } from "./settlement/dead-letters.ts";
import { LateCharges } from "./settlement/late-charges.ts";
import { LostCharges } from "./settlement/lost-charges.ts";
import { Settlement } from "./settlement/settlement.ts";
import { Settler } from "./settlement/settler/settler.ts";
import { startUpkeep } from "./upkeep.ts";
import { WalletCache } from "./wallet/cache/wallet-cache.ts";
import type { Debts } from "./wallet/debts.ts";

interface Dependencies {
  readonly store: LedgerStore;
  readonly prices: Prices & Pick<PriceList, "book" | "last">;
  readonly journal: Journal;
  readonly deadLetters: DeadLetters;
  readonly debts: Debts;
  /** The first moment whose receipts are all in the books, in milliseconds since the epoch. 0: all receipts are. */
  readonly readKeptFrom: () => Promise<number>;
  /** Counts how often the database changed hands. Absent: no other can take its place. */
  readonly turns?: (() => number) | undefined;
  readonly clock: Clock;
  /** The machine's wall clock, which tells of a sleep. Absent: the clock's time does. */
  readonly machine?: Pick<Clock, "now">;
  /** Makes run ids. */
  readonly random: Random;
  readonly logger: Logger;
  readonly observer: MeteringObserver;
}

/** The longest that a reader of the store waits for charges settled before. */
const mostCatchUpMs = 1000;

/** Opens the ledger: recovers what an earlier process of this core left behind, then takes requests. */
export async function createLedger(parts: Dependencies): Promise<CoreLedger> {
  const ledger = new SliceLedger(parts);
  await ledger.start();
  return ledger;
}

/** Assembles the parts: admission, settlement, settler, wallets. Each knows only those after it. */
class SliceLedger implements CoreLedger {
  readonly #parts: Dependencies;
  readonly #requests: RunningRequests;
  readonly #wallets: WalletCache;
  readonly #budgets: BudgetCache;
  readonly #late: LateCharges;
  readonly #settler: Settler;
  readonly #lost: LostCharges | undefined;
  readonly #admission: Admission;
  readonly #coreLease: CoreLease;
  readonly #announced: Heard = (accountId) => {
    if (accountId === undefined) {
      this.#wallets.doubtAll();
    } else {
      this.#wallets.find(accountId)?.announced();
    }
    this.#budgets.announced(accountId);
  };
  #stopUpkeep = () => {};
  #closing = false;
  #closed: Promise<void> | undefined;

  constructor(parts: Dependencies) {
    const requests = new RunningRequests(parts.clock);
    const outage = new Outage(parts, "the store could not be asked", "the store can be asked again");
    const wallets = new WalletCache({ ...parts, outage, book: parts.prices.book });
    const budgets = new BudgetCache({ ...parts, outage });
    const late = new LateCharges({ ...parts, wallets, budgets });
    const conclusions = new Conclusions({ ...parts, wallets, budgets, requests });
    const settler = new Settler({ ...parts, conclusions, late, stored: (charge) => this.#lost?.stored(charge) });
    const keeper = new Settlement({ ...parts, settler, requests });
    const mustBeOpen = () => this.#mustBeOpen();
    this.#parts = parts;
    this.#requests = requests;
    this.#wallets = wallets;
    this.#budgets = budgets;
    this.#late = late;
    this.#settler = settler;
    this.#lost = parts.turns && new LostCharges({ ...parts, turns: parts.turns, settler });
    this.#admission = new Admission({ ...parts, wallets, budgets, requests, keeper, mustBeOpen });
    this.#coreLease = new CoreLease(parts);
  }

  async start(): Promise<void> {
    const parts = {
      ...this.#parts,
      wallets: this.#wallets,
      budgets: this.#budgets,
      coreLease: this.#coreLease,
      requests: this.#requests,
      lost: this.#lost,
    };
    // A missing connection is made later, like a lost one: announcements only make things happen sooner.
    await this.#listen().catch((error: unknown) => this.#parts.logger.warn({ error }, "other cores are not heard yet"));
    await recover({ ...parts, settler: this.#settler, beat: () => this.#coreLease.renew() });
    this.#stopUpkeep = startUpkeep({
      ...parts,
      listen: () => this.#listen(),
      withFreeReturned: (accountId, run) => this.withFreeReturned(accountId, run),
    });
  }

  #listen(): Promise<void> {
    return this.#parts.store.listen(this.#announced);
  }

  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    return this.#admission.hold(request, signal);
  }

  #mustBeOpen(): void {
    if (this.#closing) {
      throw failure(Reason.SHUTTING_DOWN, "This replica is shutting down.");
    }
    if (!this.#works) {
      throw unavailable("Usage cannot be recorded at the moment.");
    }
  }

  /** True when usage can be recorded. */
  get #works(): boolean {
    const { store, journal } = this.#parts;
    return !this.#settler.overdue && journal.healthy && this.#coreLease.isValid && !store.isLost;
  }

  async settleLate(charge: Charge): Promise<void> {
    if ((await this.#parts.store.settled([charge])).size > 0) {
      return;
    }
    const fault = findFault(charge);
    if (fault !== undefined) {
      throw failure(Reason.INVALID_ARGUMENT, `The charge cannot be stored: ${fault}.`);
    }
    await this.#settler.settle(await this.#late.make(await this.#toTimely(charge)));
  }

  /**
   * A charge of a budget stays in its window while the receipts of that time are in the books. Once they have left,
   * their archive is written, so the charge counts in today's windows, as does a charge without a budget.
   */
  async #toTimely({ budgetSliceId, ...charge }: Charge): Promise<Charge> {
    const { clock, readKeptFrom } = this.#parts;
    return budgetSliceId !== undefined && charge.settledAt >= (await readKeptFrom())
      ? { ...charge, budgetSliceId }
      : { ...charge, settledAt: Math.floor(clock.now()) };
  }

  async budgetState({ id, limit, period }: Budget): Promise<BudgetState> {
    const window = windowAt(period, this.#parts.clock.now());
    const { spent } = await this.#parts.store.budgetSpending({ ...toWindowRequest(id, window), limit });
    return { spent, left: spent < limit ? Number(BigInt(limit) - spent) : 0, resetsAt: window.endsAt };
  }

  fundingState(accountId: string): FundingState | Promise<FundingState> {
    return andThen(this.#wallets.find(accountId) ?? this.#wallets.open(accountId), (cached) => {
      cached.refreshIfOld();
      return cached.wallet.fundingState;
    });
  }

  held(accountId: string): PicoUsd {
    return this.#wallets.find(accountId)?.wallet.held ?? 0;
  }

  unspent(accountId: string): PicoUsd {
    return this.#wallets.find(accountId)?.wallet.available ?? 0;
  }

  budgets(): readonly BudgetPart[] {
    return this.#budgets.parts;
  }

  state(): LedgerState {
    const { journal } = this.#parts;
    const open = this.#requests.open;
    return {
      holds: open.length,
      held: open.reduce((sum, hold) => sum + hold.amount, 0),
      backlog: this.#settler.backlog,
      journalBytes: journal.size,
      journalSetAside: journal.setAside,
      admits: !this.#closing && this.#works,
    };
  }

  caughtUp(): Promise<void> {
    return this.#settler.caughtUp(mostCatchUpMs);
  }

  unknownSlices(): Promise<StoredSlice[]> {
    return this.#wallets.unknownSlices();
  }

  async refresh(accountId: string): Promise<void> {
    this.#wallets.doubt(accountId); // at once: whoever asks meanwhile looks, too
    try {
      const moved = async () => {
        const cached = await this.#wallets.opened(accountId);
        await cached?.moneyMoved();
        return cached;
      };
      const [cached] = await Promise.all([moved(), this.#wallets.announce(accountId)]);
      cached?.queue.changed();
    } catch (error) {
      this.#parts.logger.warn({ error, accountId }, "money that came in could not be looked up yet");
    }
  }

  async callIn(accountId: string): Promise<void> {
    this.#announced(accountId);
    await this.#wallets.announce(accountId);
  }

  async withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T> {
    await this.#wallets.announce(accountId);
    return (await this.#wallets.open(accountId)).withFreeReturned(run);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** A store that is away takes no slices back; the journal is closed all the same. */
  async #close(): Promise<void> {
    this.#closing = true;
    this.#stopUpkeep();
    const { store, journal } = this.#parts;
    const parts = [this.#settler, this.#wallets, this.#budgets].map((part) => () => part.close());
    await endAll([...parts, () => store.end(), () => journal.close()]);
  }
}
