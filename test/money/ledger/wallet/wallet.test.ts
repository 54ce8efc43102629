import { expect, test } from "@jest/globals";
import { Wallet } from "#src/money/ledger/wallet/wallet.ts";
import type { PriceBook } from "#src/money/prices/price-book.ts";
import { lease, slice } from "./lease.ts";

// What a wallet knows of its account's money, beside the slices that it spends.

const book = { era: 1, newestVersion: 1, load: async () => ({ input: 0, output: 1 }) } as unknown as PriceBook;
const terms = { input: 0, output: 1 };

async function openWallet() {
  const wallet = new Wallet("account", book, () => {});
  wallet.add(lease([slice()], { paidLeft: 1000n }), 0n);
  await wallet.rates.addModel("plain");
  return wallet;
}

test("an account has paid money left once charges whose slices were lost are made again from others", async () => {
  const wallet = await openWallet();
  wallet.charge("plain", { inputTokens: 0, outputTokens: 600 }, terms);
  wallet.add(lease([], { paidLeft: 1000n }), 0n); // the store does not have the charge yet
  wallet.lose(new Set(["slice"]));
  wallet.add(lease([slice({ id: "other", granted: 400 })], { paidLeft: 400n }), 0n);
  expect(wallet.fundingState.freeOnly).toBe(false);
});

test.each([
  ["while the store has them", ["settle"], false],
  ["before the store has them", [], true],
])("charges of paid money count once, %s", async (_, then, isUsedUp) => {
  const wallet = await openWallet();
  const { lines } = wallet.charge("plain", { inputTokens: 0, outputTokens: 600 }, terms);
  if (then.length > 0) {
    wallet.committed(lines);
  }
  wallet.add(lease([], { paidLeft: 600n }), 0n);
  expect(wallet.fundingState.freeOnly).toBe(isUsedUp);
});

test("a debt that is noted while the store is asked for money comes on top of what the reply knows", async () => {
  const wallet = await openWallet();
  wallet.owe(5);
  const { owed } = wallet;
  wallet.owe(7);
  wallet.add(lease([], { debt: 5n }), owed);
  expect([wallet.debt, wallet.canPayDebt]).toEqual([12n, true]);
  wallet.add(lease([], { debt: 0n }), wallet.owed);
  expect([wallet.debt, wallet.canPayDebt]).toEqual([0n, false]);
});
