import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { checkStorage } from "#src/cli/check/findings/storage.ts";
import { migrateStorage } from "#src/cli/migrate/migrate-storage.ts";
import { withSchema } from "#src/config/storage-url.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { databases } from "../../money/databases.ts";
import { openMetering, request, run, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newFile = databases();
let server: PostgresqlServer;
beforeAll(async () => {
  server = await startPostgresql();
}, 60_000);
afterAll(() => server.stop(), 60_000);

/** Runs a statement on a database, outside of any service. */
async function execute(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const tables = (url: string) =>
  execute(
    url,
    "select schemaname as schema, count(*)::int as tables from pg_tables where schemaname in ('public', 'one', 'two') group by 1 order by 1",
  );

test("two services in two schemas of one database know nothing of each other, from the first start to the second", async () => {
  const url = await server.createDatabase();
  for (const start of [1, 2]) {
    const clock = new ManualClock(Date.now());
    const [one, two] = [
      await openMetering({ clock, url: withSchema(url, "one") }),
      await openMetering({ clock, url: `${url}?options=-csearch_path=two` }),
    ];
    const account = await one.account({ paid: usd });
    await two.account({ paid: usd });
    await two.account({ paid: usd });
    await clock.until(run(one.ledger, request(account, { inputTokens: 10, outputTokens: 10 })));
    expect(await reconcile(one.storage, one.ledger)).toMatchObject({ ok: true, accounts: BigInt(start) });
    expect(await reconcile(two.storage, two.ledger)).toMatchObject({ ok: true, accounts: BigInt(2 * start) });
    await clock.until(Promise.all([one.close(), two.close()]));
  }
  const [one, two, ...others] = await tables(url);
  expect([one.schema, two, others]).toEqual(["one", { ...one, schema: "two" }, []]);
}, 60_000);

test("cores that start at the same time make their schema once", async () => {
  const url = withSchema(await server.createDatabase(), "one");
  const storages = await Promise.all([openStorage(url), openStorage(url), openStorage(url)]);
  await Promise.all(storages.map((storage) => storage.close()));
}, 60_000);

test("a schema that the role's search_path names is that of the second start, too", async () => {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  await execute(url, `create schema two; alter database ${name} set search_path = two`);
  for (let start = 0; start < 2; start++) {
    const storage = (await openStorage(url)) as PostgresqlStorage;
    await storage.close();
  }
  expect((await tables(url)).map(({ schema }) => schema)).toEqual(["two"]);
}, 60_000);

test("check says that the schema will be made, or who may make it", async () => {
  const url = await server.createDatabase();
  const named = withSchema(url, "one");
  expect(await checkStorage(named)).toMatchObject({
    status: "ok",
    message: expect.stringMatching(/the schema one will be made$/),
  });
  await execute(url, "create role guest login password 'guest'");
  const guest = Object.assign(new URL(named), { username: "guest", password: "guest" }).href;
  expect(await checkStorage(guest)).toMatchObject({
    status: "wrong",
    message: expect.stringMatching(/the role may make none/),
  });
  await (await openStorage(named)).close();
  expect(await checkStorage(named)).toMatchObject({ status: "ok" });
  expect(await checkStorage(guest)).toMatchObject({ status: "wrong" });
}, 60_000);

test("a storage of SQLite moves into a schema", async () => {
  const [from, url] = [await newFile("sqlite"), await server.createDatabase()];
  await migrateStorage(from, withSchema(url, "two"), { progress: () => {} });
  expect((await tables(url)).map(({ schema }) => schema)).toEqual(["two"]);
}, 60_000);
