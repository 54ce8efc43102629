import { expect, test } from "@jest/globals";
import type { Client } from "pg";
import { NIL, v4, v7 } from "uuid";
import { copyStorage } from "#src/storage/orm/copy.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { dayOfRun, daysAheadOf, listDays, lowestRun, makeDays, readDays } from "#src/storage/postgresql/days.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { emptyDatabases } from "../../money/databases.ts";

const newDatabase = emptyDatabases();
const dayMs = 86_400_000;

async function open(url: string): Promise<PostgresqlStorage> {
  const storage = await openStorage(url);
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  return storage;
}

/** Stores a receipt with a line. */
async function store(client: Pick<Client, "query">, runId: string, settledAt = Date.now()): Promise<void> {
  await client.query(
    `insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status,
       settled_at) values ($1::text, $1::text::uuid, $2, '', 'm', 1, 1, 0, 0, 'completed', to_timestamp($3::float8 / 1000))`,
    [runId, NIL, settledAt],
  );
  await client.query(
    `insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate, output_rate,
       cost) values ($1::text, $1::text::uuid, 0, $2, $2, 1, 1, 0, 0, 0)`,
    [runId, NIL],
  );
}

/** The table in which each receipt and each line is. */
async function placesOf(client: Pick<Client, "query">, runId: string): Promise<string[]> {
  const { rows } = await client.query<{ place: string }>(
    `select tableoid::regclass::text as place from usage where run_id = $1
     union all select tableoid::regclass::text from usage_line where run_id = $1 order by 1`,
    [runId],
  );
  return rows.map(({ place }) => place);
}

test("a run's id tells its day, unless it is not of version 7, and a day's lowest id is the first of that day", () => {
  const at = Date.UTC(2026, 10, 25, 23, 59, 59, 999);
  const day = Math.floor(at / dayMs);
  expect(dayOfRun(v7({ msecs: at }))).toBe(day);
  expect(dayOfRun(v7({ msecs: at + 1 }))).toBe(day + 1);
  expect([dayOfRun(NIL), dayOfRun(v4())]).toEqual([undefined, undefined]);
  expect(lowestRun(day) < v7({ msecs: day * dayMs })).toBe(true);
  expect(lowestRun(day + 1) > v7({ msecs: at })).toBe(true);
});

test("a copy of a SQLite file puts old receipts into tables of their days, and others into the default one", async () => {
  const source = await openStorage("sqlite::memory:");
  const noon = Date.UTC(2026, 0, 31, 12);
  const runs = [v7({ msecs: noon }), v7({ msecs: noon + dayMs }), v4(), v7({ msecs: Date.UTC(2400, 0, 1) })];
  for (const runId of runs) {
    await source.orm.em.fork().execute(
      `insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status,
         settled_at) values (?, ?, ?, '', 'm', 1, 1, 0, 0, 'completed', ?)`,
      [runId, runId, NIL, noon],
    );
  }
  const target = await open(await newDatabase("postgresql"));
  await copyStorage(source, target);
  const places = await Promise.all(runs.map((runId) => placesOf(target.pool, runId)));
  expect(places).toEqual([["usage_20260131"], ["usage_20260201"], ["usage_default"], ["usage_default"]]);
  const { rows } = await target.pool.query(listDays.text);
  const made = readDays(rows).filter(({ day }) => day * dayMs < noon + 2 * dayMs);
  expect(made.map(({ name }) => name)).toEqual([
    "usage_20260131",
    "usage_20260201",
    "usage_line_20260131",
    "usage_line_20260201",
  ]);
  await target.close();
  await source.close();
});

test("a start makes a table for today and each of the seven days to come, once; other ids have the default one", async () => {
  const url = await newDatabase("postgresql");
  for (let start = 0; start < 2; start++) {
    const storage = await open(url);
    const made = readDays((await storage.pool.query(listDays.text)).rows);
    const days = daysAheadOf(Date.now());
    expect(made.filter(({ of }) => of === "usage").map(({ day }) => day)).toEqual(days);
    expect(made.filter(({ of }) => of === "usage_line").map(({ day }) => day)).toEqual(days);
    expect(made.every(({ isAttached }) => isAttached)).toBe(true);
    const hash = v4();
    await store(storage.pool, hash);
    expect(await placesOf(storage.pool, hash)).toEqual(["usage_default", "usage_line_default"]);
    await storage.close();
  }
});

test("receipts that came before their day's table are taken into it", async () => {
  const storage = await open(await newDatabase("postgresql"));
  const day = Math.floor(Date.now() / dayMs) + 20;
  const [early, hash] = [v7({ msecs: day * dayMs + 1 }), v4()];
  await store(storage.pool, early);
  await store(storage.pool, hash);
  expect(await placesOf(storage.pool, early)).toEqual(["usage_default", "usage_line_default"]);
  await Promise.all([makeDays(storage.pool, [day]), makeDays(storage.pool, [day])]);
  const name = new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "");
  expect(await placesOf(storage.pool, early)).toEqual([`usage_${name}`, `usage_line_${name}`]);
  expect(await placesOf(storage.pool, hash)).toEqual(["usage_default", "usage_line_default"]);
  await storage.close();
});
