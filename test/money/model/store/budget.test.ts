import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import { databases, dialects } from "../../databases.ts";
import { openStore } from "./opened.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const opened = openStore(dialect, newDatabase);

  test("a slice of a budget has the size that its core said last, whatever comes late or twice", async () => {
    const accountId = await opened.metering.account({ free: 1000 });
    const id = v7();
    const window = { budgetId: id, accountId, windowName: "total", windowStart: 0, windowEnd: undefined, limit: 500 };
    const sliceId = v7();
    const ask = (size: number, step: number, amount: number) =>
      opened.store.acquireBudget({ ...window, sliceId, size, step, isMade: step > 1, least: amount, most: amount });
    const budget = () => opened.metering.storage.orm.em.fork().findOneOrFail(Budget, { id });
    expect(await ask(0, 1, 300)).toMatchObject({ size: 300, unleased: 200 });
    // The reply was lost, so the core knows of nothing yet: all of it can be had again, and what it does not ask for goes back.
    expect(await ask(0, 2, 400)).toMatchObject({ size: 400, unleased: 100 });
    await opened.store.giveBackBudgets([{ sliceId, granted: 200, step: 3 }]);
    expect(await ask(200, 4, 100)).toMatchObject({ size: 300, unleased: 200 });
    await opened.store.giveBackBudgets([{ sliceId, granted: 200, step: 3 }]); // it comes twice, and late
    expect(await ask(0, 2, 500)).toMatchObject({ size: undefined });
    expect(await budget()).toMatchObject({ leased: 300 });
    expect(await opened.store.openBudgetSlices({ sliceId })).toMatchObject([{ granted: 300, unspent: 300 }]);
    await opened.store.giveBackBudgets([{ sliceId, granted: 400, step: 5 }]); // no size makes it larger
    expect(await budget()).toMatchObject({ leased: 300 });
    await opened.store.closeBudgets([sliceId]);
    await opened.store.giveBackBudgets([{ sliceId, granted: 100, step: 6 }]);
    expect(await ask(300, 7, 100)).toMatchObject({ size: undefined, unleased: 500 });
    expect(await budget()).toMatchObject({ leased: 0, spent: 0 });
  });
});
