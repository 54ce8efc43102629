import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type Pooler, startPooler } from "../../scripts/test-services/pgbouncer.ts";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { never, openMetering, request, run, usd } from "../money/fixture.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";

// A real PgBouncer in transaction mode, of any version: that of the distribution knows no prepared statements.

let server: PostgresqlServer;
let pooler: Pooler;
beforeAll(async () => {
  server = await startPostgresql();
  pooler = await startPooler(await server.createDatabase());
}, 120_000);
afterAll(async () => {
  await pooler.stop();
  await server.stop();
}, 60_000);

async function warningsOf(url: string): Promise<string[]> {
  const warnings: string[] = [];
  const storage = await openStorage(url, undefined, (warning) => void warnings.push(warning));
  await storage.close();
  return warnings.filter((warning) => !warning.includes("fsync")); // the tests' server does not sync
}

async function setUp(direct: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: direct });
  await client.connect();
  await client.query(sql);
  await client.end();
}

test("two cores lease, charge and give back through one, and their logs stay quiet", async () => {
  const url = pooler.urlOf(await server.createDatabase());
  const clock = new ManualClock(Date.now());
  const cores = [await openMetering({ clock, url }), await openMetering({ clock, url })] as const;
  const account = await cores[0].account({ paid: usd });
  const requests = Array.from({ length: 60 }, (_, at) =>
    run(cores[at % 2 === 0 ? 0 : 1].ledger, request(account, { inputTokens: 10, outputTokens: 10 })),
  );
  await clock.until(Promise.all(requests));
  const [charged] = await cores[0].storage.orm.em
    .getConnection()
    .execute<{ n: number }[]>("select count(*)::int as n from usage");
  expect(charged).toEqual({ n: 60 });
  for (const core of cores) {
    await clock.until(core.ledger.close());
  }
  expect(await reconcile(cores[0].storage)).toMatchObject({ ok: true, receipts: 60n });
  expect(cores.flatMap((core) => core.log).filter((line) => /error|fail|prepared/i.test(line))).toEqual([]);
  for (const core of cores) {
    await core.storage.close();
  }
}, 60_000);

test("cores hear each other through one when they know the server itself: what one has leased the other can refund", async () => {
  const direct = await server.createDatabase();
  const url = pooler.urlOf(direct);
  const clock = new ManualClock(Date.now());
  const options = { clock, url, listenUrl: direct };
  const [one, other] = [await openMetering(options), await openMetering(options)];
  const account = await one.account({ paid: usd });
  (await clock.until(one.ledger.hold(request(account, { inputTokens: 10, outputTokens: 10 }), never))).release();
  await clock.until(other.funds.refund({ accountId: account, amount: usd, reference: "all" }));
  expect((await one.funds.statement(account)).balance).toBe(0n);
  for (const core of [one, other]) {
    await clock.until(core.close());
  }
}, 60_000);

test("settings that a transaction's session may not have are told, until the role has them", async () => {
  const direct = await server.createDatabase();
  const url = pooler.urlOf(direct);
  const name = new URL(direct).pathname.slice(1);
  await setUp(
    direct,
    `alter database ${name} set synchronous_commit = off; alter database ${name} set default_transaction_isolation = serializable`,
  );
  expect(await warningsOf(url)).toEqual([
    expect.stringContaining("synchronous_commit"),
    expect.stringContaining("serializable"),
    expect.stringContaining("pooler"),
  ]);
  expect(await warningsOf(direct)).toEqual([]);

  const other = await server.createDatabase();
  expect(await warningsOf(pooler.urlOf(other))).toEqual([expect.stringContaining("pooler")]);
}, 60_000);
