import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { LateCharges } from "#src/money/ledger/settlement/late-charges.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { silentObserver } from "../../silent-observer.ts";

test("a charge that cannot be made anew yet is not concluded in its budget, however often it is tried", async () => {
  let concluded = 0;
  const budgets = { ofSlice: () => ({ concluded: () => concluded++, spend: () => {} }) };
  const wallets = { open: () => Promise.reject(new Error("away")), lose: () => {} };
  const parts = {
    wallets,
    budgets,
    prices: {},
    clock: { now: () => 0 },
    logger: silentLogger,
    observer: silentObserver,
  };
  const late = new LateCharges(parts as never);
  const charge: Charge = {
    ...{ requestId: "a", runId: v7(), accountId: v7(), keyId: "", model: "m", inputTokens: 1, outputTokens: 1 },
    ...{ cost: 2, shortfall: 0, status: "completed", settledAt: 0, budgetSliceId: v7() },
    lines: [{ sliceId: v7(), lotId: v7(), inputTokens: 1, outputTokens: 1, inputRate: 1, outputRate: 1, cost: 2 }],
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(late.renew(charge, () => undefined)).rejects.toThrow("away");
  }
  expect(concluded).toBe(0);
});

test("a charge that its budget was told of before is made anew without telling it again", async () => {
  let concluded = 0;
  const budgets = { ofSlice: () => ({ concluded: () => concluded++, spend: () => {} }) };
  const rates = { input: 1, output: 1 };
  const money = { available: 9, free: 9, hasExpired: () => false, rates: { max: () => rates } };
  const wallet = { ...money, charge: () => ({ lines: [], cost: 2, shortfall: 0 }) };
  const wallets = { open: async () => ({ wallet }), lose: () => {} };
  const parts = {
    wallets,
    budgets,
    prices: {},
    clock: { now: () => 0 },
    logger: silentLogger,
    observer: silentObserver,
  };
  const late = new LateCharges(parts as never);
  const charge: Charge = {
    ...{ requestId: "a", runId: v7(), accountId: v7(), keyId: "", model: "m", inputTokens: 1, outputTokens: 1 },
    ...{ cost: 2, shortfall: 0, status: "completed", settledAt: 0, budgetSliceId: v7(), lines: [] },
    maxRates: rates,
  };
  await late.renew(charge, () => undefined, true);
  expect(concluded).toBe(0);
  await late.renew(charge, () => undefined);
  expect(concluded).toBe(1);
});
