import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { isChargedSql } from "#src/money/store/sqlite/charge-writer.ts";
import type { SqliteStorage, Storage } from "#src/storage/storage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { explainSqlite } from "../../../support/plans.ts";
import { databases } from "../../databases.ts";
import { openMetering } from "../../fixture.ts";

const newDatabase = databases();

test("a request is looked for by its id alone, not among all that its account has used", async () => {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url: await newDatabase("sqlite") });
  const asked: string[] = [isChargedSql];
  const storage: Storage = {
    ...metering.storage,
    async snapshot() {
      const snapshot = await metering.storage.snapshot();
      return {
        ...snapshot,
        rows(sql, parameters) {
          asked.push(sql);
          return snapshot.rows(sql, parameters);
        },
      };
    },
  };
  const filters = { accountId: v7(), keyId: "", model: "", requestId: "req_1", labelName: "" };
  await listReceipts(storage, { ...filters, from: undefined, to: undefined, pageSize: 10, pageToken: "" });
  const plans = asked.map((sql) => explainSqlite(metering.storage as SqliteStorage, sql)[0]?.detail);
  expect(plans).toEqual(
    Array.from({ length: 2 }, () => expect.stringMatching(/^SEARCH usage USING .*\(request_id=\?\)/)),
  );
  await clock.until(metering.close());
});
