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

test("the budget is shared by all lots", () => {
  expect(paid(slices({ money: 20, rate: 1 }, { money: 100, rate: 1 }), 50, { input: 1, output: 1 }, 30)).toEqual({
    lines: [
      ["lot 0", 20, 20],
      ["lot 1", 10, 10],
    ],
    shortfall: 20,
  });
});

test("input and output have rates of their own, in a line and in what is owed", () => {
  const cheapInput = { find: () => ({ input: 2, output: 10 }) } as unknown as WalletRates;
  const [slice] = slices({ money: 7, rate: 0 }) as [OpenSlice];
  const spent: [string, number][] = [];
  const money = { slices: [slice], budget: 7, rates: cheapInput, model: "m" };
  const terms = { input: 3, output: 8 };
  const result = pay(money, { inputTokens: 5, outputTokens: 1 }, terms, ({ id }, cost) => spent.push([id, cost]));
  const line = { sliceId: "slice 0", lotId: "lot 0", inputTokens: 3, outputTokens: 0, inputRate: 2, outputRate: 8 };
  // Three input tokens cost 6. Of the fourth the lot pays 1, and 1 is owed; the fifth and the output are owed at the terms.
  expect(result).toEqual({ lines: [{ ...line, cost: 7 }], shortfall: 1 + 3 + 8, cost: 7 + 12 });
  expect(spent).toEqual([["slice 0", 7]]);
});

test("an output token that is paid in part is owed at the terms of output", () => {
  const both = { find: () => ({ input: 2, output: 10 }) } as unknown as WalletRates;
  const money = { slices: slices({ money: 9, rate: 0 }), budget: 9, rates: both, model: "m" };
  const result = pay(money, { inputTokens: 0, outputTokens: 2 }, { input: 3, output: 8 }, () => {});
  expect(result).toMatchObject({ shortfall: 7, cost: 9 + 7 });
});

test("lots that are not reached need no rates, and one that is reached does", () => {
  const loaded = {
    find: ({ id }: OpenSlice) => (id === "slice 0" ? { input: 1, output: 1 } : undefined),
  } as unknown as WalletRates;
  const two = slices({ money: 10, rate: 1 }, { money: 10, rate: 1 });
  const payFor = (budget: number) =>
    pay({ slices: two, budget, rates: loaded, model: "m" }, { inputTokens: 0, outputTokens: 3 }, dear, () => {});
  expect(payFor(10)).toMatchObject({ cost: 3, shortfall: 0 });
  expect(() => payFor(11)).toThrow("rates of m in version 1 are not loaded");
});

test("without money all is owed at the terms", () => {
  expect(paid(slices({ money: 10, rate: 1 }), 2, { input: 5, output: 5 }, 0)).toEqual({ lines: [], shortfall: 10 });
  expect(paid([], 2, { input: 5, output: 5 })).toEqual({ lines: [], shortfall: 10 });
  const free = slices({ money: 10, rate: 0 });
  expect(paid(free, 2, { input: 0, output: 0 }, 0)).toEqual({ lines: [["lot 0", 2, 0]], shortfall: 0 });
});
