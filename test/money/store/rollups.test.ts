import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { budgetKeys } from "#src/money/store/rollups.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { explainSqlite } from "../../support/plans.ts";
import { databases, dialects } from "../databases.ts";

const newDatabase = databases();
let storage: Storage;
afterEach(() => storage.close());

/** The steps in which the database would find a budget's keys, where it reads whole tables only if it has to. */
async function planKeys(): Promise<string> {
  if (storage.dialect === "sqlite") {
    const sql = budgetKeys("?1", "(select account_id from api_key where id = ?1)");
    const steps = explainSqlite(storage, sql, [v7()]);
    return steps.map(({ detail }) => detail).join("\n");
  }
  const sql = budgetKeys("$1", "(select account_id from api_key where id = $1)");
  const client = await storage.pool.connect();
  try {
    await client.query("set enable_seqscan = off");
    const { rows } = await client.query(`explain ${sql}`, [v7()]);
    return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
  } finally {
    client.release(true);
  }
}

describe.each(dialects)("%s", (dialect) => {
  test("a budget's keys are found by their account, however many keys others have", async () => {
    storage = await openStorage(await newDatabase(dialect));
    expect(await planKeys()).not.toMatch(/SCAN api_key|Seq Scan/);
  });
});
