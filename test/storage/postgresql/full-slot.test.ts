import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { openMetering, request, run, usd } from "../../money/fixture.ts";
import { eventually } from "../../support/eventually.ts";

// A replication slot keeps the log for a standby that is away: without a bound until the disk of the primary is full,
// with `max_slot_wal_keep_size` until then. A server of the tests writes its log in segments of 1 MiB.

let primary: PostgresqlServer;
let standby: PostgresqlServer;
beforeAll(async () => {
  primary = await startPostgresql();
  standby = await primary.startStandby();
}, 120_000);
afterAll(async () => {
  await standby.stop();
  await primary.stop();
}, 60_000);

test("a slot that is full costs its standby, and no charge: the primary goes on, and long reads are its own", async () => {
  await primary.set({ wal_keep_size: "0", max_slot_wal_keep_size: "4MB" });
  await primary.ask("select pg_create_physical_replication_slot('standby', true)");
  await standby.set({ primary_slot_name: "standby" });
  const slot = async () => (await primary.ask("select active, wal_status from pg_replication_slots"))[0];
  await eventually("the standby uses its slot", async () => (await slot())?.active);
  const url = await primary.createDatabase();
  const readUrl = url.replace(`:${primary.port}/`, `:${standby.port}/`);
  const warnings: string[] = [];
  const observer = { readStandby() {}, readPrimary() {} };
  const warn = (message: string) => void warnings.push(message);
  const core = await openMetering({
    ...{ clock: systemClock, url },
    standby: { url: readUrl, mostAgeMs: 2000, observer, warn },
  });
  const account = await core.account({ paid: 100 * usd });
  const charge = () => run(core.ledger, request(account, { inputTokens: 10, outputTokens: 10 }));
  await charge();

  await standby.crash();
  for (let written = 0; (await slot())?.wal_status !== "lost"; written++) {
    expect(written).toBeLessThan(40);
    await primary.ask("select pg_logical_emit_message(false, 'test', repeat('x', 1000000)), pg_switch_wal()");
    await primary.ask("checkpoint");
    await charge();
  }
  await standby.restart();
  await charge();
  const [log] = await primary.ask("select sum(size)::int as bytes from pg_ls_waldir()");
  expect(Number(log?.bytes)).toBeLessThan(100 * 2 ** 20);
  // It asks for its log every few seconds, and is told each time that this is gone.
  await eventually("nothing is replicated", async () => (await primary.standbys()) === 0);
  const isLeft = async () => {
    const { storage } = core;
    const snapshot = storage.dialect === "postgresql" ? await storage.standby?.snapshot() : undefined;
    await snapshot?.close();
    return snapshot === undefined;
  };
  await eventually("the standby answers no more", isLeft);
  expect(warnings).toEqual([expect.stringContaining("long reads go to the primary")]);
  expect(await reconcile(core.storage)).toMatchObject({ ok: true });
  await core.close();
}, 240_000);
