import { expect, test } from "@jest/globals";
import { Wallet } from "#src/money/ledger/wallet/wallet.ts";
import type { LeasedSlice } from "#src/money/model/store/wallet.ts";
import type { PriceBook } from "#src/money/prices/price-book.ts";
import { lease, slice } from "./lease.ts";

// What one core knows and may spend of an account's money.

const book = { era: 1, newestVersion: 1, load: async () => ({ input: 0, output: 1 }) } as unknown as PriceBook;
const terms = { input: 0, output: 1 };

async function openWallet(...slices: readonly LeasedSlice[]) {
  const wallet = new Wallet("account", book, () => {});
  wallet.add(lease(slices.length === 0 ? [slice()] : slices, { paidLeft: 1000n }), 0n);
  await wallet.rates.addModel("plain");
  return wallet;
}

const charge = (wallet: Wallet, outputTokens: number) =>
  wallet.charge("plain", { inputTokens: 0, outputTokens }, terms);

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

test("what requests hold is not free, down to the last of it and no further", async () => {
  const wallet = await openWallet();
  wallet.hold(400);
  expect([wallet.available, wallet.held, wallet.free, wallet.idle]).toEqual([1000, 400, 600, false]);
  wallet.hold(0);
  wallet.hold(600);
  expect(() => wallet.hold(1)).toThrow("looked into");
  expect(wallet.broken).toBe(true);
});

test("what is held is freed down to nothing, and no further", async () => {
  const wallet = await openWallet();
  wallet.hold(400);
  wallet.unhold(0);
  wallet.unhold(400);
  expect([wallet.held, wallet.free, wallet.idle]).toEqual([0, 1000, true]);
  expect(() => wallet.unhold(1)).toThrow("looked into");
});

test.each([
  ["more than is free", (wallet: Wallet) => wallet.hold(1001), "no less than zero free"],
  ["less than nothing", (wallet: Wallet) => wallet.hold(-1), "no less than zero free"],
  ["less than nothing again", (wallet: Wallet) => wallet.unhold(-1), "never negative"],
])("a wallet that would hold %s says which promise that breaks", (_, act, sentence) => {
  const told: string[] = [];
  const wallet = new Wallet("account", book, ({ message }) => void told.push(message));
  wallet.add(lease([slice()]), 0n);
  expect(() => act(wallet)).toThrow();
  expect(told).toEqual([expect.stringContaining(sentence)]);
});

test("a wallet is not idle while the store does not have a charge, and its slice may have less there", async () => {
  const wallet = await openWallet();
  const { lines, cost, shortfall } = charge(wallet, 300);
  expect([cost, shortfall, wallet.available, wallet.idle]).toEqual([300, 0, 700, false]);
  expect([...wallet.unspent()]).toEqual([["slice", 1000]]);
  wallet.committed(lines);
  expect([wallet.idle, ...wallet.unspent()]).toEqual([true, ["slice", 700]]);
  expect(wallet.priceOf("plain", { inputTokens: 0, outputTokens: 800 }, terms)).toBe(800); // what is missing, too
  expect(wallet.available).toBe(700);
});

test("a wallet is not idle while the store lacks a charge of one of its slices", async () => {
  const wallet = await openWallet(slice(), slice({ id: "other", lotId: "other", granted: 10 }));
  charge(wallet, 10);
  expect([wallet.held, wallet.idle]).toEqual([0, false]);
});

test("a charge pays with what nobody else holds, and owes the rest", async () => {
  const wallet = await openWallet();
  wallet.hold(900);
  const { cost, shortfall } = charge(wallet, 150);
  expect([cost, shortfall, wallet.free]).toEqual([150, 50, 0]);
});

test("lines that the store did not take can be spent again, and are no paid money that was spent", async () => {
  const wallet = await openWallet();
  const { lines } = charge(wallet, 1000);
  expect([wallet.available, wallet.fundingState.freeOnly]).toEqual([0, true]);
  expect(wallet.takeDrained()).toEqual([]);
  wallet.revert(lines);
  expect([wallet.available, wallet.idle, wallet.fundingState.freeOnly]).toEqual([1000, true, false]);
  wallet.rates.otherMoney();
  expect(wallet.rates.max("plain")).toEqual({ input: 0, output: 1 });
});

test("money that is no paid money leaves an account what it paid", async () => {
  const wallet = await openWallet(slice({ kind: "free" }));
  const { lines } = charge(wallet, 1000);
  expect(wallet.fundingState.freeOnly).toBe(false);
  wallet.revert(lines);
  expect(wallet.fundingState.freeOnly).toBe(false);
});

test("a used-up slice is closed once the store has its charges", async () => {
  const wallet = await openWallet();
  const { lines } = charge(wallet, 1000);
  wallet.committed(lines);
  expect([wallet.takeDrained(), wallet.takeDrained(), wallet.sliceIds]).toEqual([["slice"], [], []]);
});

test("what is free is taken out, and can be leased again; what is held stays", async () => {
  const wallet = await openWallet(slice(), slice({ id: "credit", kind: "credit", priority: 90, granted: 500 }));
  wallet.hold(1200);
  expect(wallet.takeFree(({ kind }) => kind === "credit")).toEqual([{ sliceId: "credit", granted: 200, amount: 300 }]);
  expect([wallet.free, wallet.available, wallet.unleased]).toEqual([0, 1200, 300n]);
  expect(wallet.takeFree()).toEqual([]);
  wallet.unhold(1200);
  expect(wallet.takeFree().reduce((sum, { amount }) => sum + amount, 0)).toBe(1200);
  expect([wallet.available, wallet.unleased]).toEqual([0, 1500n]);
});

test("a wallet of many slices gives all but the first eight back", async () => {
  const many = Array.from({ length: 17 }, (_, at) =>
    slice({ id: `s${at}`, lotId: `l${at}`, createdAt: at, granted: 10 }),
  );
  const wallet = await openWallet(...many.slice(0, 16));
  expect(wallet.takeSurplus()).toEqual([]);
  wallet.add(lease(many.slice(16)), 0n);
  expect(wallet.takeSurplus().map(({ sliceId }) => sliceId)).toEqual(
    many
      .slice(8)
      .map(({ id }) => id)
      .toReversed(),
  );
});

test("money of a lot that lapsed or was called back goes back, except what is held", async () => {
  const wallet = await openWallet(slice({ expiresAt: 50 }), slice({ id: "other", lotId: "other", granted: 10 }));
  expect([wallet.hasExpired(49), wallet.hasExpired(50)]).toEqual([false, true]);
  wallet.hold(1010);
  expect([wallet.hasExpired(50), wallet.takeExpired(50)]).toEqual([false, []]);
  wallet.unhold(1010);
  expect(wallet.takeExpired(49)).toEqual([]);
  expect(wallet.takeExpired(50)).toEqual([{ sliceId: "slice", granted: 0, amount: 1000 }]);
  expect(wallet.unleased).toBe(0n); // it lapses where it goes
  wallet.add(lease([], { retired: ["other"] }), 0n);
  expect(wallet.hasExpired(0)).toBe(true);
});

test("an audit lowers a slice to what the store has of it, and lost slices are gone", async () => {
  const wallet = await openWallet(slice(), slice({ id: "other", lotId: "other", granted: 10 }));
  expect(wallet.lower(new Map([["slice", 400]]))).toBe(600);
  expect(wallet.available).toBe(410);
  expect(wallet.lower(new Map([["other", 0]]))).toBe(10);
  expect(wallet.takeDrained()).toEqual(["other"]);
  wallet.hold(100);
  wallet.lose(new Set(["slice"]));
  expect([wallet.free, wallet.sliceIds]).toEqual([-100, []]);
});

test("all slices are taken out to be closed, and what is held stays held", async () => {
  const wallet = await openWallet();
  wallet.hold(100);
  expect([wallet.takeAll(), wallet.available, wallet.held]).toEqual([["slice"], 0, 100]);
});

test("free or unleased money can pay a debt, and nothing else", async () => {
  const wallet = await openWallet();
  expect(wallet.canPayDebt).toBe(false);
  wallet.owe(5);
  expect(wallet.canPayDebt).toBe(true);
  wallet.hold(1000);
  expect(wallet.canPayDebt).toBe(false);
  wallet.add(lease([], { debt: 5n, unleased: 1n, elsewhere: 3n }), wallet.owed);
  expect([wallet.canPayDebt, wallet.unleased, wallet.elsewhere]).toEqual([true, 1n, 3n]);
});

test("the highest rates are found anew when money comes or goes", async () => {
  const dear = { era: 1, newestVersion: 2, look: async () => {} };
  const load = async ({ priceVersion }: { priceVersion: number }) => ({ input: 0, output: priceVersion });
  const wallet = new Wallet("account", { ...dear, load } as unknown as PriceBook, () => {});
  wallet.add(lease([slice()]), 0n);
  await wallet.rates.addModel("plain");
  expect(wallet.rates.max("plain")).toEqual({ input: 0, output: 1 });
  const more = lease([slice({ id: "dear", lotId: "dear", priceVersion: 2, granted: 20 })]);
  await wallet.rates.loadFor(more);
  wallet.add(more, 0n);
  expect(wallet.rates.max("plain")).toEqual({ input: 0, output: 2 });
  wallet.lose(new Set(["dear"]));
  expect(wallet.rates.max("plain")).toEqual({ input: 0, output: 1 });
  wallet.takeAll();
  expect(wallet.rates.max("plain")).toEqual({ input: 0, output: 0 });
});
