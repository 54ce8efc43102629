import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { Hold, HoldRequest } from "../../model/ledger.ts";
import type { Prices, Rates } from "../../model/rates.ts";
import type { ChargeStore } from "../../model/store/charge.ts";
import type { BudgetCache } from "../budget/budget-cache.ts";
import type { BudgetWallet } from "../budget/budget-wallet.ts";
import type { CachedBudget } from "../budget/cached-budget.ts";
import { type Held, type HoldKeeper, RunningHold } from "../hold.ts";
import { duplicate, type RunningRequests } from "../running-requests.ts";
import type { CachedWallet } from "../wallet/cache/cached-wallet.ts";
import type { WalletCache } from "../wallet/cache/wallet-cache.ts";
import { fits, fund } from "../wallet/funding.ts";
import { costOf } from "../wallet/split.ts";
import { admitShort, type HeldBudget, type Means, mayBeLeased, type WantedTokens } from "./admit-short.ts";

/** How long a request waits for money that other requests of its account hold. */
const patienceMs = 2000;
/** How often a request looks again after this time when others took what it leased although there was more to lease. */
const mostLateLooks = 3;

interface Dependencies {
  readonly store: Pick<ChargeStore, "isCharged">;
  readonly wallets: WalletCache;
  readonly budgets: BudgetCache;
  readonly requests: RunningRequests;
  /** Ends the holds that admission makes. */
  readonly keeper: HoldKeeper;
  readonly prices: Pick<Prices, "live">;
  readonly clock: Clock;
  /** Makes run ids. */
  readonly random: Random;
  /** Throws when no request may be admitted now. */
  readonly mustBeOpen: () => void;
}

/** Sets money aside for requests: from memory when the wallet has enough, otherwise from a new lease of the store. */
export class Admission {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    try {
      this.#parts.mustBeOpen();
      const hold = this.#holdAtOnce(request);
      return hold === undefined ? this.#holdSlowly(request, signal) : Promise.resolve(hold);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Undefined: the store has to be asked, or other requests wait. */
  #holdAtOnce(request: HoldRequest): Hold | undefined {
    const { wallets, requests, clock } = this.#parts;
    const cached = wallets.find(request.accountId);
    if (cached === undefined || !cached.queue.isOpen(request.budget?.id) || !requests.isNew(request)) {
      return undefined;
    }
    const { wallet } = cached;
    if (wallet.debt !== 0n || wallet.hasExpired(clock.now())) {
      return undefined;
    }
    const rates = wallet.rates.max(request.model);
    if (rates === undefined || !fits(wallet, rates, request)) {
      return undefined;
    }
    const budget = this.#openBudget(request)?.wallet;
    const inBudget = budget === undefined || fitsBudget(budget, rates, request);
    return inBudget ? this.#grant(cached, request, { rates, admitted: request, budget }) : undefined;
  }

  /**
   * This core's part of the budget's open window, under the limit that the request knows. Undefined: there is no
   * budget.
   */
  #openBudget({ budget, accountId }: HoldRequest): CachedBudget | undefined {
    if (budget === undefined) {
      return undefined;
    }
    const cached = this.#parts.budgets.find(budget, accountId);
    cached.setLimit(budget.limit);
    return cached;
  }

  async #holdSlowly(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    const { store, wallets, requests } = this.#parts;
    const { accountId, requestId } = request;
    const mustBeUncharged = async () => {
      if (!requests.isNew(request) && (await store.isCharged(accountId, requestId))) {
        throw duplicate(request);
      }
    };
    requests.mustBeNone(request);
    await mustBeUncharged();
    const cached = await wallets.open(accountId);
    let hasWaited = !cached.queue.isOpen(request.budget?.id);
    const ticket = cached.queue.enter(patienceMs, signal, request.budget?.id);
    let lateLooks = 0;
    try {
      let wanted: WantedTokens = request;
      let count = request.countInput;
      for (;;) {
        const inTime = await ticket.turn();
        await (hasWaited && mustBeUncharged()); // the same id may have run meanwhile
        await cached.payDebt();
        let funded = await this.#fundAll(cached, request, wanted);
        if (!isFunded(cached, funded, wanted) && count !== undefined) {
          const inputTokens = Math.min(request.inputTokens, (await count()) ?? request.inputTokens);
          wanted = { ...request, inputTokens };
          count = undefined;
          funded = await this.#fundAll(cached, request, wanted);
        }
        const { rates, budget } = funded;
        const isLast = !(
          inTime ||
          (lateLooks++ < mostLateLooks && mayBeLeased(toMeans(cached, funded), rates, wanted))
        );
        const admitted = admit(cached, funded, wanted, isLast);
        if (admitted !== undefined) {
          return this.#grant(cached, request, { rates, admitted, budget: budget?.wallet });
        }
        hasWaited = true;
        ticket.wait(budget !== undefined && !fitsBudget(budget.wallet, rates, wanted));
      }
    } finally {
      ticket.leave();
    }
  }

  /** Leases the money that tokens lack, of the balance and of the key's budget. */
  async #fundAll(cached: CachedWallet, request: HoldRequest, wanted: ChargedTokens): Promise<Funded> {
    const rates = await this.#fund(cached, request, wanted);
    const budget = await this.#fundBudget(request, costOf(wanted, rates));
    return { rates, budget };
  }

  #fund(cached: CachedWallet, { model }: HoldRequest, wanted: ChargedTokens): Promise<Rates> {
    const { prices, clock } = this.#parts;
    return fund(cached, model, wanted, { terms: { otherwise: () => prices.live(model) }, clock });
  }

  /** Leases the part of an amount that the key's budget here lacks, as far as any is left. */
  async #fundBudget(request: HoldRequest, amount: PicoUsd): Promise<HeldBudget | undefined> {
    const { budget } = request;
    const cached = this.#openBudget(request);
    if (budget === undefined || cached === undefined) {
      return undefined;
    }
    await cached.fund(amount);
    return { budget, wallet: cached.wallet };
  }

  #grant(
    cached: CachedWallet,
    request: HoldRequest,
    { rates, admitted, budget }: Pick<Held, "rates" | "admitted" | "budget">,
  ): Hold {
    const { requests, keeper, random, mustBeOpen } = this.#parts;
    requests.mustBeNone(request);
    mustBeOpen();
    const amount = costOf(admitted, rates);
    cached.wallet.hold(amount);
    budget?.hold(amount);
    const { requestId, accountId, keyId, model, labels } = request;
    const run = { requestId, runId: random.uuid(), accountId, keyId, model, labels };
    const hold = new RunningHold(keeper, { wallet: cached, request: run, rates, admitted, amount, budget });
    requests.add(hold);
    cached.used();
    return hold;
  }
}

/** The terms of a request after what it lacked was leased, as far as there was any. */
interface Funded {
  readonly rates: Rates;
  readonly budget: HeldBudget | undefined;
}

/** Whether the balance and the key's budget cover the worst case at this moment. */
function isFunded({ wallet }: CachedWallet, { rates, budget }: Funded, tokens: ChargedTokens): boolean {
  return fits(wallet, rates, tokens) && (budget === undefined || fitsBudget(budget.wallet, rates, tokens));
}

function toMeans({ wallet }: CachedWallet, { budget }: Funded): Means {
  return { wallet, budget };
}

/** As `admitShort`. Checks the money once more: others may have taken it or called it in since the lease. */
function admit(cached: CachedWallet, funded: Funded, wanted: WantedTokens, isLast: boolean): ChargedTokens | undefined {
  return isFunded(cached, funded, wanted) ? wanted : admitShort(toMeans(cached, funded), funded.rates, wanted, isLast);
}

/** Whether the free part of the budget covers the worst case. */
function fitsBudget(budget: BudgetWallet, rates: Rates, tokens: ChargedTokens): boolean {
  return budget.available > 0 && costOf(tokens, rates) <= budget.free;
}
