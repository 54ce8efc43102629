import { expect, test } from "@jest/globals";
import { Conclusions } from "#src/money/ledger/settlement/conclusions.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { silentLogger } from "../../../support/loggers.ts";

const run = { requestId: "r", runId: "u" };
const facts = {
  ...{ accountId: "a", keyId: "k", model: "m", inputTokens: 1, outputTokens: 1 },
  status: "completed",
} as const;
const charge: Charge = { ...run, ...facts, cost: 7, shortfall: 2, settledAt: 0, lines: [] };

test("what a charge cost is counted once, also when it is made again because the store has lost it", () => {
  const counted: unknown[] = [];
  const owed: number[] = [];
  const conclusions = new Conclusions({
    wallets: { find: () => undefined, owe: (_accountId: string, amount: number) => void owed.push(amount) } as never,
    budgets: { ofSlice: () => undefined } as never,
    requests: { charged() {} } as never,
    journal: { forget() {} },
    logger: silentLogger,
    observer: { charged: (...of) => void counted.push(of), deadLettered() {}, uncharged() {} },
  });
  conclusions.settled(charge, "stored", run);
  conclusions.settled({ ...charge, shortfall: 3 }, "stored", run, true);
  expect(counted).toEqual([["m", 7, 2, "completed"]]);
  expect(owed).toEqual([2, 3]); // the debt of the first was lost with it
});

test("the money of a charge that the store has lost is not freed when it cannot be made again", () => {
  const freed: unknown[] = [];
  const conclusions = new Conclusions({
    wallets: {
      find: () => ({ wallet: { broken: false, revert: (lines: unknown) => void freed.push(lines) } }),
    } as never,
    budgets: { ofSlice: () => ({ concluded: (cost: number) => void freed.push(cost) }) } as never,
    requests: { charged() {} } as never,
    journal: { forget() {} },
    logger: silentLogger,
    observer: { charged() {}, deadLettered() {}, uncharged() {} },
  });
  conclusions.settled(charge, "refused", run, true);
  expect(freed).toEqual([]);
  conclusions.settled(charge, "refused", run);
  expect(freed).toEqual([7, []]);
});
