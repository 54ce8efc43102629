import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { admitShort, mayBeLeased } from "#src/money/ledger/admission/admit-short.ts";
import type { BudgetWallet } from "#src/money/ledger/budget/budget-wallet.ts";
import type { Wallet } from "#src/money/ledger/wallet/wallet.ts";
import { windowAt } from "#src/money/model/budget-window.ts";

const rates = { input: 1, output: 1 };
const wanted = { inputTokens: 0, outputTokens: 1000 };

interface Money {
  readonly free: number;
  readonly held: number;
  readonly unleased: number;
  readonly elsewhere: number;
}

/** An account's money, and a budget's where there is one. */
function toMeans(account: Money, budget?: Money, limit = 5000) {
  const toWallet = ({ free, held }: Money) => ({ free, available: free + held });
  const [unleased, elsewhere] = [BigInt(account.unleased), BigInt(account.elsewhere)];
  const wallet = { ...toWallet(account), unleased, elsewhere } as Wallet;
  if (budget === undefined) {
    return { wallet, budget: undefined };
  }
  const ofBudget = { ...budget, ...toWallet(budget), window: windowAt("day", 0) } as unknown as BudgetWallet;
  return { wallet, budget: { budget: { id: "key", limit, period: "day" } as const, wallet: ofBudget } };
}

describe("a request whose time to wait is over", () => {
  const rich = { free: 0, held: 0, unleased: 250_000, elsewhere: 100 };
  const poor = { free: 0, held: 3000, unleased: 0, elsewhere: 0 };
  const plenty = { free: 0, held: 0, unleased: 4000, elsewhere: 0 };

  test.each([
    [
      "the budget, though others called in what this core had leased of the balance",
      rich,
      { ...poor, free: 30 },
      Reason.BUDGET_HELD,
    ],
    ["the budget, of which no core has leased a little", rich, { ...poor, unleased: 70 }, Reason.BUDGET_HELD],
    [
      "the balance, though others called in what this core had leased of the budget",
      { ...poor, free: 30 },
      plenty,
      Reason.BALANCE_HELD,
    ],
    ["the balance of a key without a budget", poor, undefined, Reason.BALANCE_HELD],
  ])("is told what is held: %s", (_, account, budget, reason) => {
    let error: unknown;
    try {
      admitShort(toMeans(account, budget), rates, wanted, true);
    } catch (thrown) {
      error = thrown;
    }
    expect(readDetail(error)?.reason).toBe(reason);
  });

  test.each([
    ["both have more to lease", rich, plenty, true],
    ["the balance has, and the budget is leased already", rich, { ...poor, free: 1000 }, true],
    ["the balance has, and the budget is held", rich, poor, false],
    ["the budget has, and the balance is held", poor, plenty, false],
    ["the balance alone has, of a key without a budget", rich, undefined, true],
    ["all is leased and free", { ...rich, free: 1000 }, undefined, false],
  ])("may find more: %s, %#", (_, account, budget, found) => {
    expect(mayBeLeased(toMeans(account, budget), rates, wanted)).toBe(found);
  });
});

describe("a request that costs more than is free", () => {
  const asked = { inputTokens: 100, outputTokens: 1000 };
  const has = (money: Partial<Money>): Money => ({ free: 0, held: 0, unleased: 0, elsewhere: 0, ...money });
  const reasonOf = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return readDetail(error)?.reason;
    }
    return undefined;
  };

  test("gets the output that all of the money pays, to the last token", () => {
    expect(admitShort(toMeans(has({ free: 500 })), { input: 1, output: 3 }, asked, false)).toEqual({
      inputTokens: 100,
      outputTokens: 133,
    });
  });

  test("is refused as exhausted where less than 64 tokens are left, and not before", () => {
    const one = { inputTokens: 1, outputTokens: 1000 };
    expect(reasonOf(() => admitShort(toMeans(has({ free: 63 })), rates, one, false))).toBe(Reason.BALANCE_EXHAUSTED);
    expect(admitShort(toMeans(has({ free: 64 })), rates, one, false)).toEqual({ inputTokens: 1, outputTokens: 63 });
  });

  test("is told which of the two is spent", () => {
    const rich = has({ free: 9000 });
    expect(reasonOf(() => admitShort(toMeans(rich, has({})), rates, asked, false))).toBe(Reason.BUDGET_EXHAUSTED);
    expect(reasonOf(() => admitShort(toMeans(has({}), rich), rates, asked, false))).toBe(Reason.BALANCE_EXHAUSTED);
  });

  test.each([
    ["a prompt dearer than the whole budget", 90, asked],
    ["64 tokens dearer than the whole budget", 63, { inputTokens: 1, outputTokens: 1000 }],
    ["inputs to be embedded, dearer than the whole budget", 90, { inputTokens: 100, outputTokens: 0 }],
  ])("is not told to wait for a period that changes nothing: %s", (_, limit, wanted) => {
    const refuse = (of: number) => () =>
      admitShort(toMeans(has({ free: 9000 }), has({ free: limit }), of), rates, wanted, false);
    expect(refuse(limit)).toThrow(
      / does not pay for this request, even unspent: shorten it, or have the budget raised\.$/,
    );
    expect(refuse(5000)).toThrow(/ It opens again on 1970-01-02\.$/);
  });

  test("waits for what other requests hold, however little of it", () => {
    expect(admitShort(toMeans(has({ free: 500, held: 700 })), rates, asked, false)).toBeUndefined();
    expect(admitShort(toMeans(has({ held: 700 })), rates, asked, false)).toBeUndefined();
  });
});
