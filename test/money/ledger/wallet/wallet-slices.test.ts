import { expect, test } from "@jest/globals";
import { WalletSlices } from "#src/money/ledger/wallet/wallet-slices.ts";

const terms = {
  kind: "paid",
  priority: 2,
  createdAt: 0,
  expiresAt: undefined,
  priceVersion: 1,
  ownPrices: null,
} as const;
const leased = { ...terms, id: "slice", lotId: "lot", accountId: "account", granted: 10, spent: 0 };
const charge = {
  sliceId: "slice",
  lotId: "lot",
  inputTokens: 0,
  outputTokens: 10,
  inputRate: 1,
  outputRate: 1,
  cost: 10,
};

test("a used-up slice is closed once the store has all its charges, and no sooner", () => {
  const slices = new WalletSlices();
  slices.add([leased]);
  const [slice] = slices.open;
  if (slice === undefined) {
    throw new Error("the slice is not open");
  }
  slices.spend(slice, 4);
  slices.spend(slice, 6);
  slices.settleDown();
  expect(slices.takeDrained()).toEqual([]);
  slices.committed({ ...charge, outputTokens: 4, cost: 4 });
  expect(slices.takeDrained()).toEqual([]);
  slices.committed({ ...charge, outputTokens: 6, cost: 6 });
  expect(slices.takeDrained()).toEqual(["slice"]);
  expect(slices.all).toEqual([]);
});
