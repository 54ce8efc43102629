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
  const parts = { wallets, budgets, prices: {}, clock: {}, logger: silentLogger, observer: silentObserver };
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
