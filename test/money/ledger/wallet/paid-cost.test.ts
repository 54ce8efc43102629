import { expect, test } from "@jest/globals";
import { pay } from "#src/money/ledger/wallet/paid-cost.ts";
import type { WalletRates } from "#src/money/ledger/wallet/wallet-rates.ts";
import type { OpenSlice } from "#src/money/ledger/wallet/wallet-slices.ts";

/** Slices with money, in the order of spending; each token costs as many pico-USD as its slice's rate. */
const slices = (...of: readonly { readonly money: number; readonly rate: number }[]): OpenSlice[] =>
  of.map(({ money, rate }, at) => ({
    ...{ id: `slice ${at}`, lotId: `lot ${at}`, accountId: "account", kind: "paid", priority: 50, createdAt: at },
    ...{ priceVersion: rate, ownPrices: null, expiresAt: undefined, granted: money, spent: 0, available: money },
    ...{ uncommitted: 0, uncommittedCost: 0 },
  }));
const rates = {
  find: ({ priceVersion: rate }: OpenSlice) => ({ input: rate, output: rate }),
} as unknown as WalletRates;
const dear = { input: 100, output: 100 };

/** What each lot pays for output tokens, and what nobody pays. */
function paid(of: readonly OpenSlice[], outputTokens: number, terms = dear, budget = Number.MAX_SAFE_INTEGER) {
  const { lines, shortfall, cost } = pay(
    { slices: of, budget, rates, model: "m" },
    { inputTokens: 0, outputTokens },
    terms,
    () => {},
  );
  expect(lines.reduce((sum, line) => sum + line.cost, shortfall)).toBe(cost);
  return { lines: lines.map((line) => [line.lotId, line.outputTokens, line.cost]), shortfall };
}

test("lots pay in their order, however dear, and as many as it takes", () => {
  const three = slices({ money: 10, rate: 1 }, { money: 30, rate: 3 }, { money: 20, rate: 2 });
  expect(paid(three, 25)).toEqual({
    lines: [
      ["lot 0", 10, 10],
      ["lot 1", 10, 30],
      ["lot 2", 5, 10],
    ],
    shortfall: 0,
  });
});

test("no lot pays more than the terms", () => {
  expect(paid(slices({ money: 100, rate: 7 }), 4, { input: 5, output: 5 })).toEqual({
    lines: [["lot 0", 4, 20]],
    shortfall: 0,
  });
});

test("what nobody pays is owed at the terms, less what was paid of its first token", () => {
  expect(paid(slices({ money: 23, rate: 5 }), 7, { input: 5, output: 5 })).toEqual({
    lines: [["lot 0", 4, 23]],
    shortfall: 12,
  });
});

test("money beyond the budget, which other requests hold, pays nothing", () => {
  expect(paid(slices({ money: 100, rate: 1 }), 50, { input: 1, output: 1 }, 30)).toEqual({
    lines: [["lot 0", 30, 30]],
    shortfall: 20,
  });
});
