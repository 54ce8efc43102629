import { expect, jest, test } from "@jest/globals";
import { Client, type Pool } from "pg";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { settledLater } from "#src/money/store/postgresql/receipts.ts";
import { PostgresqlLedgerStore } from "#src/money/store/postgresql/store.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { changeTables, lowestRun, makeDays } from "#src/storage/postgresql/days.ts";
import type { Patience } from "#src/storage/storage.ts";
import { eventually } from "../../../support/eventually.ts";
import { pause } from "../../../support/pause.ts";
import { databases } from "../../databases.ts";

const newDatabase = databases();
const today = Math.floor(Date.now() / dayMs);

/** Begins to remove receipts, and waits until a day is to be taken out. Returns what becomes of it. */
async function beginRemoval(store: PostgresqlLedgerStore, pool: Pool): Promise<{ readonly removing: Promise<number> }> {
  const connect = jest.spyOn(pool, "connect");
  const removing = store.removeReceipts(100);
  // A change of tables takes a connection for itself, every other statement gives the pool a callback.
  const isTaken = () => connect.mock.calls.some((call: readonly unknown[]) => call.length === 0);
  await Promise.race([eventually("a day is to be taken out", isTaken, 20), removing]);
  connect.mockRestore();
  return { removing };
}

/** A store of one core, with tables from so many days ago on. */
async function opened(daysAgo: number, patience?: Patience) {
  const url = await newDatabase("postgresql");
  const storage = await openStorage(url, patience);
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  const { pool } = storage;
  await makeDays(
    pool,
    Array.from({ length: daysAgo }, (_, at) => today - daysAgo + at),
  );
  const missing: number[] = [];
  const coreId = v7();
  const store = new PostgresqlLedgerStore({ pool, pooled: false }, systemRandom, coreId, {
    dayMissing: (day) => void missing.push(day),
  });
  await store.enter({ atLeast: 1 } as never);
  const accountId = v7();
  const charge = (day: number, settledAt = day * dayMs + 1000): Charge => ({
    ...{ requestId: v7(), runId: v7({ msecs: day * dayMs + 500 }), accountId, keyId: "", model: "m", settledAt },
    ...{ inputTokens: 1, outputTokens: 1, cost: 0, shortfall: 0, status: "completed", lines: [] },
  });
  const count = async (sql = "select count(*)::int as count from usage") =>
    (await pool.query<{ count: number }>(sql)).rows[0]?.count;
  const tables = () =>
    count("select count(*)::int as count from pg_class where relkind = 'r' and relname ~ '^usage_(line_)?[0-9]{8}'");
  const archive = (day: number) =>
    pool.query(
      "insert into receipt_archive (day, receipts, cost_high, cost_low, file, bytes, sha256, at) values ($1, 0, 0, 0, '', 0, '', now())",
      [day],
    );
  const close = async () => {
    await store.end();
    await storage.close();
  };
  return { url, storage, pool, store, missing, charge, count, tables, archive, close };
}

test("of forty days, those that are due leave as wholes while charges are stored, without a dead row", async () => {
  const { pool, store, missing, charge, count, tables, archive, close } = await opened(40);
  for (let day = today - 40; day <= today; day++) {
    expect(await store.settle([charge(day), charge(day)])).toEqual(["stored", "stored"]);
  }
  expect([missing, await tables()]).toEqual([[], 2 * 48]);
  let isOver = false;
  const load = (async () => {
    let stored = 0;
    while (!isOver) {
      const outcomes = await store.settle([charge(today), charge(today)]);
      stored += outcomes.filter((outcome) => outcome === "stored").length;
    }
    return stored;
  })();
  expect(await store.removeReceipts(1)).toBe(0);
  await archive(today - 11);
  expect(await store.removeReceipts(1)).toBe(60);
  isOver = true;
  const stored = await load;
  expect(await count()).toBe(22 + stored);
  expect(await tables()).toBe(2 * 18);
  expect(await store.removeReceipts(1)).toBe(0);
  await pool.query("select pg_stat_force_next_flush()");
  expect(
    await count(
      "select coalesce(sum(n_dead_tup), 0)::int as count from pg_stat_user_tables where relname ~ '^usage_(line_)?(default|[0-9]{8})$'",
    ),
  ).toBe(0);
  await close();
});

test("a day leaves and tables are made where commits take 50 ms and one is always under way", async () => {
  const { url, pool, store, charge, tables, archive, close } = await opened(10);
  await store.settle([charge(today - 9)]);
  await archive(today - 8);
  let isOver = false;
  const clients = [new Client(url), new Client(url), new Client(url)];
  const loads = clients.map(async (client, at) => {
    await client.connect();
    await client.query("select pg_sleep($1)", [at * 0.02]);
    while (!isOver) {
      await client.query("begin; lock table usage, usage_default in row exclusive mode; select pg_sleep(0.05); commit");
    }
    await client.end();
  });
  const before = (await tables()) ?? 0;
  try {
    expect(await store.removeReceipts(1)).toBe(1);
    expect(await tables()).toBeLessThan(before);
    await makeDays(pool, [today + 20]);
  } finally {
    isOver = true;
    await Promise.all(loads);
    await close();
  }
});

test("behind a dump or a long read no attempt to change tables lets settlements wait for longer than 10 ms", async () => {
  const { url, pool, close } = await opened(10);
  const reader = new Client(url);
  await reader.connect();
  const waits = async () => {
    const told: number[] = [];
    const change = changeTables(pool, async (client, lockMs) => {
      told.push(lockMs);
      await client.query(`set local lock_timeout = ${lockMs}; lock table usage in access exclusive mode`);
    });
    await expect(change).rejects.toMatchObject({ code: "55P03" });
    return Math.max(...told);
  };
  try {
    await reader.query("begin; select count(*) from usage; select pg_sleep(1.1)");
    expect(await waits()).toBe(10);
  } finally {
    await reader.end();
    await close();
  }
});

test("a day whose table somebody keeps stays, and the others leave", async () => {
  const { url, store, charge, count, archive, close } = await opened(10);
  for (const day of [today - 9, today - 8]) {
    await store.settle([charge(day)]);
  }
  await archive(today - 8);
  const reader = new Client(url);
  await reader.connect();
  const kept = `usage_${dayName(today - 9).replaceAll("-", "")}`;
  await reader.query(`begin; select count(*) from ${kept}`);
  expect(await store.removeReceipts(1)).toBe(1);
  expect(await count()).toBe(1);
  await expect(store.removeReceipts(1)).rejects.toMatchObject({ code: "55P03" });
  await reader.end();
  expect(await store.removeReceipts(1)).toBe(1);
  expect(await count()).toBe(0);
  await close();
}, 60_000);

test("of a day that leaves one receipt is looked at while settlements wait, even if the planner knows nothing of its table", async () => {
  const { pool, store, charge, archive, close } = await opened(10);
  const day = today - 9;
  await store.settle([charge(day)]);
  const name = `usage_${dayName(day).replaceAll("-", "")}`;
  await pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  await pool.query(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall,
    status, settled_at)
    select 'many ' || n, run_id, account_id, key_id, model, 1, 1, 0, 0, status, settled_at from usage, generate_series(1, 20000) n`);
  const { rows } = await pool.query<{ "QUERY PLAN": string }>(
    `explain (analyze, timing off) select ${settledLater(name)} as stays`.replace("$1", String((day + 1) * dayMs)),
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/Index Only Scan.*rows=1\D/);
  expect(plan).not.toContain("Seq Scan");
  await archive(day);
  expect(await store.removeReceipts(1)).toBe(20_001);
  await close();
});

test("a day with many receipts that were settled after it leaves with the next; of one with few the others leave one by one", async () => {
  const { pool, store, charge, count, tables, archive, close } = await opened(10);
  const day = today - 9;
  await store.settle([charge(day), charge(day), charge(day, (day + 1) * dayMs + 5)]);
  const before = await tables();
  await archive(day);
  expect(await store.removeReceipts(100)).toBe(2 + 0);
  expect(await count()).toBe(1);
  await pool.query(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall,
    status, settled_at)
    select 'many ' || n, run_id, account_id, key_id, model, 1, 1, 0, 0, status, to_timestamp(${day * 86_400})
    from usage, generate_series(1, 10001) n`);
  expect(await store.removeReceipts(100)).toBe(0);
  expect(await count()).toBe(10_002);
  await archive(day + 1);
  expect(await store.removeReceipts(100)).toBe(10_002);
  expect([await count(), (before ?? 0) - Number(await tables())]).toEqual([0, 6]);
  await close();
});

test("a snapshot keeps days in their place; charges go on meanwhile, and what was begun is finished later", async () => {
  const { storage, pool, store, charge, count, archive, close } = await opened(3);
  const day = today - 3;
  await store.settle([charge(day)]);
  await archive(day);
  const snapshot = await storage.snapshot("tables");
  await snapshot.few("select 1");
  await expect(store.removeReceipts(100)).rejects.toMatchObject({ code: "55P03" });
  expect(await store.settle([charge(today)])).toEqual(["stored"]);
  expect(await snapshot.few("select count(*)::int as receipts from usage")).toEqual([{ receipts: 1 }]);
  await snapshot.close();

  const name = dayName(day).replaceAll("-", "");
  await pool.query(`alter table usage detach partition usage_${name}`); // and was killed
  expect(await store.removeReceipts(100)).toBe(0);
  expect(await count(`select count(*)::int as count from pg_class where relname ~ '${name}'`)).toBe(0);
  expect(await count()).toBe(1);
  await close();
}, 30_000);

test("a receipt that comes while its day leaves is neither lost nor dropped", async () => {
  const { url, pool, store, charge, count, archive, close } = await opened(3);
  const day = today - 3;
  await store.settle([charge(day)]);
  await archive(day);
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query("begin");
  const late = charge(day, today * dayMs);
  await other.query(
    `insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status,
       settled_at) values ($1, $2, $3, '', 'm', 1, 1, 0, 0, 'completed', to_timestamp($4::float8 / 1000))`,
    [late.requestId, late.runId, late.accountId, late.settledAt],
  );
  const { removing } = await beginRemoval(store, pool);
  await other.query("commit");
  expect(await removing).toBe(1);
  expect(await count()).toBe(1);
  await other.end();
  await close();
}, 30_000);

test("a failover that takes a day's archive back keeps the receipts of the day", async () => {
  const { url, pool, store, charge, count, archive, close } = await opened(3);
  const day = today - 3;
  const name = dayName(day).replaceAll("-", "");
  await store.settle([charge(day), charge(today, day * dayMs)]);
  await archive(day);
  await pool.query(`alter table usage_line detach partition usage_line_${name}`);
  const other = new Client({ connectionString: url });
  await other.connect();
  const whileItWaits = async (act: () => Promise<unknown>) => {
    await other.query("begin; select 1 from usage");
    const { removing } = await beginRemoval(store, pool);
    await act();
    await other.query("commit");
    return removing;
  };
  expect(await whileItWaits(() => pool.query("delete from receipt_archive"))).toBe(0);
  expect(await count()).toBe(2);

  await archive(day);
  const bounds = [day, day + 1].map((one) => `'${lowestRun(one)}'`);
  const attach = `alter table usage_line attach partition usage_line_${name} for values from (${bounds[0]}) to (${bounds[1]})`;
  expect(await whileItWaits(() => pool.query(attach))).toBe(1);
  expect(
    await count(`select count(*)::int as count from pg_inherits where inhrelid = to_regclass('usage_line_${name}')`),
  ).toBe(1);
  await other.end();
  await close();
}, 30_000);

test("a charge whose day has no table makes it, and tells", async () => {
  const { store, missing, charge, tables, close } = await opened(0);
  const before = Number(await tables());
  expect(await store.settle([charge(today + 12), charge(today - 30), charge(today)])).toEqual([
    "stored",
    "stored",
    "stored",
  ]);
  expect([missing, Number(await tables()) - before]).toEqual([[today + 12], 2]);
  expect(await store.settle([charge(today + 12)])).toEqual(["stored"]);
  expect(missing).toHaveLength(1);
  expect(await store.makeDays((today + 9) * dayMs, async () => false)).toBe(-1);
  expect(await store.makeDays((today + 9) * dayMs, async () => true)).toBe(7);
  await close();
});

test("a day's receipts may take longer to count than a statement may", async () => {
  const answerMs = 500;
  const { url, store, charge, archive, close } = await opened(3, { connectMs: 10_000, answerMs });
  await store.settle([charge(today - 3)]);
  await archive(today - 2);
  const other = new Client({ connectionString: url });
  await other.connect();
  const name = dayName(today - 3).replaceAll("-", "");
  await other.query(`begin; lock table usage_${name} in access exclusive mode`);
  const removing = store.removeReceipts(100);
  await pause(3 * answerMs, "the count waits longer than a statement may");
  await other.query("rollback");
  expect(await removing).toBe(1);
  await other.end();
  await close();
}, 60_000);
