import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { type Metering, openMetering, request, run, usd } from "../../money/fixture.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";

// A switchover is a failover in order: the primary ends, its standby has all of it and is promoted, and the old primary
// follows the new one.

let servers: readonly [PostgresqlServer, PostgresqlServer];
beforeAll(async () => {
  const primary = await startPostgresql();
  servers = [primary, await primary.startStandby()];
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
}, 60_000);

test("a switchover and the way back lose no charge, make none twice and put none back, and both ways cores follow", async () => {
  const [one, other] = servers;
  const database = new URL(await one.createDatabase());
  const hosts = `127.0.0.1:${one.port},127.0.0.1:${other.port}`;
  const url = `${database.href.replace(database.host, hosts)}?target_session_attrs=read-write`;
  const cores = [
    await openMetering({ clock: systemClock, url }),
    await openMetering({ clock: systemClock, url }),
  ] as const;
  const account = await cores[0].account({ paid: 100 * usd });
  const acknowledged: string[] = [];
  let isOver = false;
  const ask = async ({ ledger }: Metering) => {
    while (!isOver) {
      const one = request(account, { inputTokens: 10, outputTokens: 10 });
      await run(ledger, one).then(
        () => acknowledged.push(one.requestId),
        () => pause(20, "a refused client asks again a little later"),
      );
    }
  };
  const clients = cores.flatMap((core) => [ask(core), ask(core)]);
  const more = async () => {
    const before = acknowledged.length;
    await eventually("charges are acknowledged", () => acknowledged.length > before + 40);
  };
  await more();
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    await from.shutDown();
    await to.promote();
    await more();
    await from.follow(to);
    await more();
  }
  isOver = true;
  await Promise.all(clients);
  const [core] = cores;
  const rows = await core.storage.orm.em
    .getConnection()
    .execute<{ id: string }[]>("select request_id as id from usage");
  const charged = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !charged.has(id))).toEqual([]);
  expect(charged.size).toBe(rows.length);
  expect(await reconcile(core.storage)).toMatchObject({ ok: true, receipts: BigInt(rows.length) });
  expect(cores.flatMap(({ log }) => log.filter((line) => line.includes("lost charges")))).toEqual([]);
  expect(cores.map(({ storage }) => "history" in storage && storage.history.timeline)).toEqual([3, 3]);
  await Promise.all(cores.map((each) => each.close()));
}, 240_000);
