import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { openMetering, request, run, usd } from "../../money/fixture.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";
import { asRoot, mountSmallDisk, type SmallDisk } from "../../support/small-disk.ts";

// A real file system of its own: a table space on it is full, and then has room again.

let disk: SmallDisk;
let server: PostgresqlServer;

beforeAll(async () => {
  disk = mountSmallDisk(48);
  server = await startPostgresql();
  const [data] = await server.ask("show data_directory");
  asRoot("chown", `--reference=${data?.data_directory}`, disk.folder);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  disk.remove();
}, 60_000);

test("a database whose disk is full admits nothing new, loses no charge of what runs, and goes on when there is room", async () => {
  await server.ask(`create tablespace small location '${disk.folder}'`);
  await server.ask("create database on_small tablespace small");
  const url = (await server.createDatabase()).replace(/[^/]*$/, "on_small");
  const core = await openMetering({ clock: systemClock, url });
  const { storage } = core;
  const account = await core.account({ paid: 900 * usd });
  const acknowledged: string[] = [];
  const faults: unknown[] = [];
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const one = request(account, { inputTokens: 10, outputTokens: 10 });
      await run(core.ledger, one).then(
        () => acknowledged.push(one.requestId),
        async (fault: unknown) => {
          faults.push(fault);
          await pause(20, "a refused client asks again a little later");
        },
      );
    }
  };
  const clients = Array.from({ length: 8 }, ask);
  await eventually("charges are made", () => acknowledged.length > 50);

  await server.ask("create table filler (text text) with (autovacuum_enabled = off)", "on_small");
  await server.ask("alter table filler alter column text set storage plain", "on_small");
  let rows = 1000;
  await eventually("the disk is full", () =>
    server.ask(`insert into filler select repeat('x', 7000) from generate_series(1, ${rows})`, "on_small").then(
      () => false,
      () => {
        rows = Math.floor(rows / 4);
        return rows === 0;
      },
    ),
  );
  const isTold = () => core.log.some((line) => line.includes("did not take a settlement") && line.includes("53100"));
  await eventually("charges are not taken", isTold);
  const statement = "create table more as select repeat('y', 100000) from generate_series(1, 1000)";
  const refused = await storage.orm.em
    .getConnection()
    .execute(statement)
    .catch((error: unknown) => error);
  expect({ refused, unreachable: isUnreachable(refused) }).toMatchObject({ unreachable: true });
  const before = acknowledged.length;
  await pause(3000, "charges wait for room, and none is given up");
  expect(await core.deadLetters.list({ limit: 10, after: undefined })).toEqual([]);

  await server.ask("drop table filler", "on_small");
  await eventually("charges are made again", () => acknowledged.length > before + 50);
  isOver = true;
  await Promise.all(clients);
  const charged = await storage.orm.em.getConnection().execute<{ id: string }[]>("select request_id as id from usage");
  expect(new Set(charged.map(({ id }) => id))).toEqual(new Set(acknowledged));
  expect(charged).toHaveLength(acknowledged.length);
  expect(faults.filter((fault) => !isUnreachable(fault))).toEqual([]);
  expect(await reconcile(storage)).toMatchObject({ ok: true });
  await core.close();
}, 240_000);
