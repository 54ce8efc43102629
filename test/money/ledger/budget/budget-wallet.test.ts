import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { BudgetWallet } from "#src/money/ledger/budget/budget-wallet.ts";
import { windowAt } from "#src/money/model/budget-window.ts";

/** The wallet of a window in which 100 are leased. */
function leased(): BudgetWallet {
  const window = windowAt("total", 0);
  const wallet = new BudgetWallet({ budgetId: v7(), accountId: v7(), window, limit: 1000, sliceId: v7() });
  const { granted } = wallet.tellSize();
  wallet.add({ size: 100, unleased: 900, elsewhere: 0 }, granted);
  return wallet;
}

test("it is idle once each of its charges is concluded, whatever charges of nothing are concluded besides", () => {
  const wallet = leased();
  wallet.spend(10);
  wallet.spend(20);
  wallet.concluded(0); // the rest of a run, or a charge that no money was assigned to
  wallet.concluded(10);
  expect([wallet.idle, wallet.unspent]).toEqual([false, 90]);
  wallet.concluded(20);
  expect([wallet.idle, wallet.unspent]).toEqual([true, 70]);
});

test("each size that it tells has a later step, and a reply counts from the size that was told", () => {
  const wallet = leased();
  const { granted, step } = wallet.tellSize();
  expect([granted, step]).toEqual([100, 2]);
  expect(wallet.takeFree()).toBe(100); // while the lease is under way
  expect(wallet.add({ size: 150, unleased: 850, elsewhere: 0 }, granted)).toBe(50);
  expect(wallet.tellSize()).toMatchObject({ granted: 50, step: 3 });
  expect(wallet.available).toBe(50);
});

test("what is charged is gone, what is held cannot be held twice, and what is freed can", () => {
  const wallet = leased();
  wallet.spend(30);
  wallet.hold(60);
  expect([wallet.available, wallet.free]).toEqual([70, 10]);
  expect(() => wallet.hold(11)).toThrow("leaves no less than zero");
  wallet.unhold(60);
  expect(wallet.free).toBe(70);
});

test("it believes in no more than the store has unspent, and in nothing of a lost slice", () => {
  const wallet = leased();
  expect(wallet.lower(40)).toBe(60);
  expect([wallet.available, wallet.tellSize().granted]).toEqual([40, 40]);
  wallet.lose(v7());
  expect([wallet.available, wallet.unspent, wallet.isMade]).toEqual([0, 0, false]);
});
