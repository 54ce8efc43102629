import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { type Pooler, startPooler } from "../../scripts/test-services/pgbouncer.ts";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { type Relay, startRelay } from "../faults/relay.ts";
import { openMetering, request, run, usd } from "../money/fixture.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";

// A real PgBouncer in transaction mode, whose server is a name that moves: cores keep their connections to it, whatever
// happens behind it.

let primary: PostgresqlServer;
let standby: PostgresqlServer;
let name: Relay;
let pooler: Pooler;
beforeAll(async () => {
  primary = await startPostgresql();
  standby = await primary.startStandby();
  name = await startRelay(`127.0.0.1:${primary.port}`);
  const database = new URL(await primary.createDatabase());
  database.host = name.address;
  pooler = await startPooler(database.href);
}, 120_000);
afterAll(async () => {
  await pooler.stop();
  name.close();
  await Promise.all([primary, standby].map((server) => server.stop()));
}, 60_000);

test("behind a pooler, too, a core follows the promoted standby, loses nothing acknowledged, and refuses the old primary", async () => {
  const url = pooler.urlOf(await primary.createDatabase());
  const core = await openMetering({ clock: systemClock, url });
  const account = await core.account({ paid: 100 * usd });
  const acknowledged: string[] = [];
  const asked: string[] = [];
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const one = request(account, { inputTokens: 10, outputTokens: 10 });
      asked.push(one.requestId);
      await run(core.ledger, one).then(
        () => acknowledged.push(one.requestId),
        () => pause(20, "a refused client asks again a little later"),
      );
    }
  };
  const clients = [ask(), ask(), ask(), ask()];
  const more = async () => {
    const before = acknowledged.length;
    await eventually("charges are acknowledged", () => acknowledged.length > before + 40);
  };
  await primary.setSynchronous(true);
  await more();
  await primary.crash();
  await standby.promote();
  name.leadTo(`127.0.0.1:${standby.port}`);
  await eventually("the promoted standby is followed", () => {
    return "history" in core.storage && core.storage.history.timeline === 2;
  });
  await more();

  await primary.restart();
  await primary.set({ synchronous_standby_names: "" });
  name.leadTo(`127.0.0.1:${primary.port}`);
  await eventually("the old primary is refused", () => core.log.some((line) => line.includes("timeline 1")));
  name.leadTo(`127.0.0.1:${standby.port}`);
  await more();
  isOver = true;
  await Promise.all(clients);
  const readCharged = async () => {
    const sql = "select request_id as id from usage";
    const rows = await core.storage.orm.em.getConnection().execute<{ id: string }[]>(sql);
    return rows.map(({ id }) => id);
  };
  await eventually("all that was acknowledged is charged", async () => {
    const charged = new Set(await readCharged());
    return acknowledged.every((id) => charged.has(id));
  });
  const charged = await readCharged();
  expect(new Set(charged).size).toBe(charged.length);
  expect(await reconcile(core.storage)).toMatchObject({ ok: true });

  // Nobody tells a connection that rests when the pooler leads elsewhere.
  const { pool } = core.storage as PostgresqlStorage;
  await eventually("connections rest", () => pool.idleCount > 0 && pool.idleCount === pool.totalCount);
  name.leadTo(`127.0.0.1:${primary.port}`);
  await pause(1100, "what was asked before holds for a second");
  await expect(pool.query("select 1")).rejects.toThrow("timeline 1");
  name.leadTo(`127.0.0.1:${standby.port}`);
  await core.close();
}, 240_000);
