import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { explainSqlite } from "../../../support/plans.ts";
import { databases, dialects } from "../../databases.ts";

const newDatabase = databases();

type Asked = readonly [sql: string, parameters: readonly unknown[]];

/** The storage, with what its snapshots are asked. */
function spied(storage: Storage, asked: Asked[]): Storage {
  const snapshot = async (): Promise<Snapshot> => {
    const { rows, few, close } = await storage.snapshot();
    return {
      rows(sql, parameters = []) {
        asked.push([sql, parameters]);
        return rows(sql, parameters);
      },
      few(sql, parameters = []) {
        asked.push([sql, parameters]);
        return few(sql, parameters);
      },
      close,
    };
  };
  return { ...storage, snapshot };
}

/** The steps in which the database would read a query, where it reads whole tables only if it has to. */
async function planOf(storage: Storage, [sql, parameters]: Asked): Promise<string> {
  if (storage.dialect === "sqlite") {
    const values = parameters.map((value) => (value instanceof Date ? value.getTime() : value));
    const steps = explainSqlite(storage, sql, values as string[]);
    return steps.map(({ detail }) => detail).join("\n");
  }
  let place = 0;
  const numbered = sql.replaceAll("?", () => `$${++place}`);
  const client = await storage.pool.connect();
  try {
    await client.query("begin");
    await client.query("set local enable_seqscan = off");
    const { rows } = await client.query(`explain ${numbered}`, [...parameters]);
    await client.query("rollback");
    return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
  } finally {
    client.release();
  }
}

/** Whether a plan reads a whole table that grows with requests, or sorts all that a filter lets through. Tallies are of the last hours alone. */
function readsTooMuch([sql]: Asked, plan: string): boolean {
  const isPage = sql.startsWith("select * from usage ") && !sql.includes("request_id = ?");
  return (
    /SCAN (usage|usage_line|usage_rollup|usage_span)$/m.test(plan) ||
    /Seq Scan on (usage|usage_line|usage_rollup|usage_span)\b/.test(plan) ||
    (isPage && plan.includes("USE TEMP B-TREE FOR ORDER BY"))
  );
}

const [account, from, to] = [
  v7(),
  timestampFromMs(Date.UTC(2026, 0, 1, 0, 30)),
  timestampFromMs(Date.UTC(2026, 1, 3, 4, 5)),
];
const filters: readonly object[] = [
  ...[{}, { accountId: account }, { keyId: v7() }, { model: "m" }, { accountId: account, keyId: "k", model: "m" }],
  ...[{ from }, { to }, { from, to }, { accountId: account, from, to }],
];
const groups = [
  ...[[], [UsageGroup.MODEL], [UsageGroup.DAY], [UsageGroup.HOUR, UsageGroup.MODEL], [UsageGroup.KEY, UsageGroup.DAY]],
];

describe.each(dialects)("%s", (dialect) => {
  test("receipts and usage are found by indexes, whatever is asked", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const asked: Asked[] = [];
    const spy = spied(storage, asked);
    const all = { accountId: "", keyId: "", model: "", labelName: "", dearest: 0, fresh: false };
    const request = { $typeName: "tollgate.metering.v1.StreamUsageRequest" as const, ...all };
    for (const filter of filters.flatMap((filter) => groups.map((groupBy) => ({ groupBy, ...filter })))) {
      for await (const { rows } of streamUsage(spy, { ...request, ...filter })) {
        expect(rows).toEqual([]); // there is no usage
      }
    }
    for (const filter of [...filters, { requestId: "r" }]) {
      await listReceipts(spy, { ...all, requestId: "", pageSize: 10, pageToken: "", ...filter });
    }
    expect(asked.length).toBeGreaterThan(50);
    for (const query of asked) {
      const plan = await planOf(storage, query);
      expect({ query, plan: readsTooMuch(query, plan) ? plan : "" }).toEqual({ query, plan: "" });
    }
    await storage.close();
  }, 60_000);
});
