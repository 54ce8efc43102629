import { describe, expect, test } from "@jest/globals";
import { BudgetCensus, type BudgetCounts } from "#src/money/thresholds/budget-census.ts";
import { silentLogger } from "../../support/loggers.ts";
import { dialects } from "../databases.ts";
import { usd } from "../fixture.ts";
import { tokensAUsd, watchedMetering } from "./watched-metering.ts";

const open = watchedMetering();
const dayMs = 86_400_000;
const none = { announced: { 0: 0, 80: 0, 100: 0 }, left: 0 };

describe.each(dialects)("%s", (dialect) => {
  test("budgets are counted by what is spent of their running windows, live ones only, a chain of keys once", async () => {
    const noon = Math.ceil(Date.now() / dayMs) * dayMs + dayMs / 2;
    const { account, spend, look, keys, clock, storage } = await open(dialect, { at: noon });
    const id = await account({ paid: 20 * usd });
    const day = { budgetPicoUsd: usd, budgetPeriod: "day" } as const;
    const total = { budgetPicoUsd: 2 * usd, budgetPeriod: "total" } as const;
    await keys.create(id, "without a budget");
    await keys.create(id, "new", day);
    const most = (await keys.create(id, "spent to 80 %", day)).key;
    await spend(id, 0.5 * tokensAUsd, most.id);
    const heir = (await keys.rotate(most.id, dayMs)).key;
    await spend(id, 0.4 * tokensAUsd, heir.id);
    await spend(id, 2 * tokensAUsd, (await keys.create(id, "spent", total)).key.id);
    await keys.create(id, "expired", { ...total, expiresAt: new Date(noon - 1) });
    await keys.revoke((await keys.create(id, "revoked", total)).key.id);
    await look();

    const lease = { isHeld: true, hold: async () => lease.isHeld };
    let heard: (counts: BudgetCounts | undefined) => void = () => {};
    const next = () =>
      new Promise<BudgetCounts | undefined>((resolve) => {
        heard = resolve;
      });
    const census = new BudgetCensus({
      ...{ storage, lease, clock, logger: silentLogger },
      counted: (counts) => heard(counts),
    });
    expect(await census.count()).toEqual({
      ...{ week: none, month: none },
      day: { announced: { 0: 1, 80: 1, 100: 0 }, left: 1.1 * usd },
      total: { announced: { 0: 0, 80: 0, 100: 1 }, left: 0 },
    });
    clock.jump(dayMs / 2); // a day later its budgets are whole
    expect(await census.count()).toMatchObject({ day: { announced: { 0: 2, 80: 0, 100: 0 }, left: 2 * usd } });

    const stop = census.start();
    const first = next();
    await clock.pass(1000);
    expect(await first).toBeDefined();
    lease.isHeld = false;
    const second = next();
    await clock.pass(60_000);
    expect(await second).toBeUndefined();
    stop();
  }, 60_000);
});
