import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Journal, JournalEntry } from "../../journal/journal.ts";
import { type BudgetWindow, withinWindow } from "../../model/budget-window.ts";
import type { Charge } from "../../model/charges/charge.ts";
import { readFacts } from "../../model/charges/run-facts.ts";
import type { RunFacts, Settled, SettleStatus } from "../../model/charges/settlement.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { HoldKeeper, RunningHold } from "../hold.ts";
import type { RunningRequests } from "../running-requests.ts";
import type { PaidCost } from "../wallet/paid-cost.ts";
import { costOf } from "../wallet/split.ts";
import { toChargeable } from "./charge-faults.ts";
import type { Settler } from "./settler/settler.ts";

interface Dependencies {
  readonly settler: Pick<Settler, "settle" | "giveUp">;
  readonly requests: RunningRequests;
  readonly journal: Pick<Journal, "note" | "forget">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Ends holds: the wallet pays the tokens, and the rest of the held money is free again. */
export class Settlement implements HoldKeeper {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  note({ request, rates, budget, budgetSliceId }: RunningHold, tokens: ChargedTokens): void {
    const within = budget === undefined ? {} : toMoments(budget.window);
    this.#parts.journal.note({ ...request, tokens, maxRates: rates, ...inBudget(budgetSliceId), ...within });
  }

  shrink({ wallet, budget }: RunningHold, amount: PicoUsd): void {
    budget?.unhold(amount);
    wallet.wallet.unhold(amount);
    wallet.freed();
  }

  release({ wallet, request, amount, budget }: RunningHold): void {
    this.#parts.requests.drop(request);
    this.#parts.journal.forget(request);
    budget?.unhold(amount);
    wallet.wallet.unhold(amount);
    wallet.freed();
  }

  async charge(hold: RunningHold, counted: ChargedTokens, status: SettleStatus, facts?: RunFacts): Promise<Settled> {
    this.#parts.requests.ended(hold.request);
    const tokens = this.#toChargeable(hold, counted);
    if (lacking(hold, tokens) > 0) {
      this.note(hold, tokens); // the store may take long, and this process may die meanwhile
      await this.#cover(hold, tokens);
    }
    const noted = facts === undefined ? {} : { facts: readFacts(facts) ?? {} };
    const charge = { ...this.#toCharge(hold, tokens, status), ...noted, cost: 0, shortfall: 0, lines: [] };
    let paid: PaidCost;
    try {
      paid = this.#pay(hold, tokens);
    } catch (error) {
      return toSettled(await this.#parts.settler.giveUp(charge, error));
    }
    hold.wallet.freed();
    return toSettled(await this.#parts.settler.settle({ ...charge, ...paid }));
  }

  #toChargeable({ request, admitted, rates }: RunningHold, counted: ChargedTokens): ChargedTokens {
    const tokens = toChargeable(counted, admitted, rates);
    if (tokens !== counted) {
      this.#parts.logger.error(
        { requestId: request.requestId, model: request.model, counted, charged: tokens },
        "an engine's count can be no charge: what was admitted is charged at most",
      );
    }
    return tokens;
  }

  /** Leases money for the cost that exceeds the hold, as far as there is any. */
  async #cover(hold: RunningHold, tokens: ChargedTokens): Promise<void> {
    while (lacking(hold, tokens) > 0 && (await hold.wallet.lease(lacking(hold, tokens)).catch(() => false))) {}
  }

  /** Frees the held money. The charge may then use all free money. */
  #pay({ wallet, request, rates, amount, budget, budgetSliceId }: RunningHold, tokens: ChargedTokens): PaidCost {
    budget?.unhold(amount);
    wallet.wallet.unhold(amount);
    const paid = wallet.wallet.charge(request.model, tokens, rates);
    if (budget?.sliceId === budgetSliceId) {
      budget?.spend(paid.cost);
    } else {
      budget?.spendElsewhere(paid.cost);
    }
    if (paid.shortfall > 0) {
      this.#parts.logger.error(
        { requestId: request.requestId, shortfall: paid.shortfall },
        "a request cost more than could be held",
      );
    }
    return paid;
  }

  #toCharge(
    { request, rates, admitted, budget, budgetSliceId }: RunningHold,
    tokens: ChargedTokens,
    status: SettleStatus,
  ) {
    const { requestId, runId, accountId, keyId, model, labels } = request;
    const { inputTokens, outputTokens } = tokens;
    const now = Math.floor(this.#parts.clock.now());
    const settledAt = budget === undefined ? now : withinWindow(budget.window, now);
    return {
      requestId,
      runId,
      accountId,
      keyId,
      model,
      inputTokens,
      outputTokens,
      status,
      settledAt,
      maxRates: rates,
      admitted,
      labels,
      ...inBudget(budgetSliceId),
    } satisfies Partial<Charge>;
  }
}

function toMoments(window: BudgetWindow): Pick<JournalEntry, "settleFrom" | "settleBy"> {
  return { settleFrom: window.startsAt, settleBy: withinWindow(window, Number.POSITIVE_INFINITY) };
}

/** Sums up the cost by lot, because several slices may be of one lot. */
function toSettled({ cost, lines }: Charge): Settled {
  const [only] = lines;
  if (only !== undefined && lines.length === 1) {
    return { cost, lots: [{ lotId: only.lotId, cost: only.cost }] };
  }
  const lots = new Map<string, PicoUsd>();
  for (const line of lines) {
    lots.set(line.lotId, (lots.get(line.lotId) ?? 0) + line.cost);
  }
  return { cost, lots: Array.from(lots, ([lotId, paid]) => ({ lotId, cost: paid })) };
}

/** The charge's field for its slice of a budget. Empty without a budget. */
function inBudget(budgetSliceId: string | undefined): { budgetSliceId?: string } {
  return budgetSliceId === undefined ? {} : { budgetSliceId };
}

/** The cost that the hold and the free money together do not cover. Free money is below zero when slices were lost. */
function lacking({ wallet, rates, amount }: RunningHold, tokens: ChargedTokens): PicoUsd {
  return costOf(tokens, rates) - amount - wallet.wallet.free;
}
