import { expect, test } from "@jest/globals";
import { Client } from "pg";
import { v7 } from "uuid";
import { toWindowRequest, windowAt } from "#src/money/model/budget-window.ts";
import type { BudgetRequest } from "#src/money/model/store/budget.ts";
import { eventually } from "../../../support/eventually.ts";
import { databases } from "../../databases.ts";
import { openMetering, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";

const newDatabase = databases();

test("a lease of a budget locks its slice before the budget, as what goes back does: the two cannot wait for each other", async () => {
  const url = await newDatabase("postgresql");
  const metering = await openMetering({ url });
  const { store } = metering;
  const other = new Client({ connectionString: url });
  await other.connect();
  const accountId = await metering.account({ paid: usd });
  const budgetId = await storeKey(metering, accountId);
  const lease: BudgetRequest = {
    ...{ ...toWindowRequest(budgetId, windowAt("total", 0)), accountId, limit: usd, sliceId: v7() },
    ...{ size: 0, step: 1, isMade: false, least: 100, most: 100 },
  };
  await store.acquireBudget(lease);

  await other.query("begin");
  await other.query("select from budget_slice where id = $1 for update", [lease.sliceId]);
  const more = store.acquireBudget({ ...lease, size: 100, step: 2, isMade: true });
  await eventually("the lease waits for its slice", async () => {
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    return (await other.query(waiting)).rows.length > 0;
  });
  await other.query("select from budget where id = $1 for update nowait", [budgetId]);
  await other.query("commit");
  expect(await more).toMatchObject({ size: 200 });
  await other.end();
  await metering.close();
});
