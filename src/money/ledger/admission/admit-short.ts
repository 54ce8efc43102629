import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { formatUsd } from "#lib/money/money.ts";
import { toDuration } from "#lib/time/duration.ts";
import type { Budget } from "#src/wire/principal.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { HoldRequest } from "../../model/ledger.ts";
import type { Rates } from "../../model/rates.ts";
import type { BudgetWallet } from "../budget/budget-wallet.ts";
import { costOf } from "../wallet/split.ts";
import type { Wallet } from "../wallet/wallet.ts";

/** A balance that cannot pay this many tokens counts as exhausted. */
export const leastTokens = 64;
/** When held money may be free again: a guess. */
const heldRetryMs = 1000;

/** The tokens that a request wants, and how many answers share the output. */
export type WantedTokens = ChargedTokens & Pick<HoldRequest, "answers">;

/** The money that may pay for a request. */
export interface Means {
  readonly wallet: Wallet;
  /** Undefined: the key has no budget. */
  readonly budget: HeldBudget | undefined;
}

/** A budget with the part of its window that this core may spend. */
export interface HeldBudget {
  readonly budget: Budget;
  readonly wallet: BudgetWallet;
}

/**
 * Decides about a request whose worst case exceeds the free money. Admits it with fewer output tokens when the free
 * money is all the money there is. Undefined: wait until running requests give money back. `last`: the time to wait is
 * over, and the result is never undefined.
 *
 * Throws BALANCE_EXHAUSTED or BALANCE_HELD, or BUDGET_EXHAUSTED or BUDGET_HELD when the key's budget has less.
 */
export function admitShort(means: Means, rates: Rates, wanted: WantedTokens, last: boolean): ChargedTokens | undefined {
  const worst = costOf(wanted, rates);
  const { budget } = means;
  const ofAccount = toEverything(means.wallet);
  const ofBudget = budget === undefined ? Number.POSITIVE_INFINITY : everythingOfBudget(budget.wallet);
  const everything = Math.min(ofAccount, ofBudget);
  const free = Math.min(means.wallet.free, budget?.wallet.free ?? Number.POSITIVE_INFINITY);
  const tooLittle = everything < worst && shorten(everything, rates, wanted) === undefined;
  if (everything <= 0 || tooLittle) {
    throw budget !== undefined && ofBudget < ofAccount
      ? budgetSpent(budget, everything, rates, wanted)
      : exhausted(everything, rates);
  }

  const nothingToWaitFor = everything === free;
  const short = everything < worst ? shorten(free, rates, wanted) : undefined;
  if (nothingToWaitFor || last) {
    if (short !== undefined) {
      return short;
    }
    throw heldBy(budget !== undefined && hasLess(budget.wallet, means.wallet));
  }
  return undefined;
}

function toEverything(wallet: Wallet): PicoUsd {
  const elsewhere = min(wallet.elsewhere + wallet.unleased, BigInt(Number.MAX_SAFE_INTEGER - wallet.available));
  return wallet.available + Number(elsewhere);
}

/**
 * Whether the store still had money to lease, at the last look, of everything that lacks some: then others took what
 * was leased.
 */
export function mayBeLeased({ wallet, budget }: Means, rates: Rates, wanted: ChargedTokens): boolean {
  const worst = costOf(wanted, rates);
  const lacking = [wallet, ...(budget === undefined ? [] : [budget.wallet])].filter(({ free }) => free < worst);
  return lacking.length > 0 && lacking.every(({ unleased }) => unleased > 0);
}

/**
 * Whether a request waits for the budget rather than the wallet. When both have as much that is free or can be leased,
 * often nothing, the one with less in total decides.
 */
function hasLess(budget: BudgetWallet, wallet: Wallet): boolean {
  const ofBudget = budget.free + budget.unleased;
  const ofWallet = wallet.free + Number(wallet.unleased);
  return ofBudget === ofWallet ? everythingOfBudget(budget) < toEverything(wallet) : ofBudget < ofWallet;
}

function everythingOfBudget({ available, unleased, elsewhere }: BudgetWallet): PicoUsd {
  return available + unleased + elsewhere;
}

function heldBy(budget: boolean) {
  const retryAfter = toDuration(heldRetryMs);
  return budget
    ? failure(Reason.BUDGET_HELD, "What is left of the key's budget is held by requests that are still running.", {
        retryAfter,
      })
    : failure(Reason.BALANCE_HELD, "The balance is held by requests of this account that are still running.", {
        retryAfter,
      });
}

const periods = { total: "in all", day: "a day", week: "a week", month: "a month" } as const;

function budgetSpent({ budget, wallet }: HeldBudget, money: PicoUsd, rates: Rates, wanted: WantedTokens) {
  return failure(
    Reason.BUDGET_EXHAUSTED,
    `The key's budget of ${formatUsd(BigInt(budget.limit))} USD ${periods[budget.period]} ${fate()}`,
    { bound: { case: "money", value: { limitPicoUsd: BigInt(budget.limit) } } },
  );

  function fate(): string {
    if (costOf(wanted, rates) > budget.limit && shorten(budget.limit, rates, wanted) === undefined) {
      return "does not pay for this request, even unspent: shorten it, or have the budget raised.";
    }
    const { endsAt } = wallet.window;
    const opens = endsAt === undefined ? "" : ` It opens again on ${new Date(endsAt).toISOString().slice(0, 10)}.`;
    return `${isNothing(money, rates) ? "is spent" : "has too little left for this prompt"}.${opens}`;
  }
}

/**
 * The tokens that the money pays: the whole input, and as much output as the rest pays. Undefined: too little money.
 */
function shorten(money: PicoUsd, rates: Rates, wanted: WantedTokens): ChargedTokens | undefined {
  if (wanted.outputTokens === 0 || money < leastTokens * Math.max(rates.input, rates.output)) {
    return undefined;
  }
  const left = money - wanted.inputTokens * rates.input;
  if (left < rates.output * (wanted.answers ?? 1) || left < 0) {
    return undefined;
  }
  const outputTokens = rates.output === 0 ? wanted.outputTokens : Math.floor(left / rates.output);
  return { inputTokens: wanted.inputTokens, outputTokens: Math.min(wanted.outputTokens, outputTokens) };
}

/** Whether an amount counts as spent. */
function isNothing(money: PicoUsd, rates: Rates): boolean {
  return money <= 0 || money < leastTokens * Math.max(rates.input, rates.output);
}

function exhausted(money: PicoUsd, rates: Rates) {
  return failure(
    Reason.BALANCE_EXHAUSTED,
    isNothing(money, rates)
      ? "The account's balance is exhausted. Top it up to continue."
      : "The account's balance is exhausted: it does not cover this prompt. Top it up to continue.",
  );
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
