import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Client, type PoolClient, type QueryConfig } from "pg";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { PostgresqlLedgerStore } from "#src/money/store/postgresql/store.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import type { BriefQuery } from "#src/storage/workarounds/answer-limit.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { type Door, startDoor } from "../support/door.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";

// Connections that carry nothing any more and say nothing of it, as when a host vanishes.

const patience = { connectMs: 10_000, answerMs: 500 };
const never = { connectMs: 10_000, answerMs: 600_000 };

let server: DatabaseServer;
beforeAll(async () => {
  server = await useServer();
}, 60_000);
afterAll(() => server.stop(), 60_000);

let url: string;
let door: Door;
beforeEach(async () => {
  url = await server.createDatabase();
  door = await startDoor(url);
});
afterEach(() => door.shut());

const open = async (bounds = patience) => (await openStorage(door.url, bounds)) as PostgresqlStorage;
const ask = ({ orm }: PostgresqlStorage) => orm.em.fork().execute("select 1 as one");
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => "no refusal",
    (error: unknown) => error,
  );

test("statements and transactions on silent connections fail, more of them than there are connections, and new ones work", async () => {
  const storage = await open();
  const { orm, pool } = storage;
  for (let times = 0; times < 2; times++) {
    const { promise: forsaken, resolve: forsake } = Promise.withResolvers<void>();
    let inside = 0;
    const transactions = Array.from({ length: 8 }, () =>
      orm.em.fork().transactional(async (em) => {
        await em.execute("select 1");
        if (++inside === 8) {
          door.forsake();
          forsake();
        }
        await forsaken;
        await em.execute("select 1");
      }),
    );
    await forsaken;
    const statements = Array.from({ length: 8 }, () => pool.query("select 1"));
    const refusals = await Promise.all(transactions.map(refusalOf));
    expect(refusals.map(isUnreachable)).toEqual(refusals.map(() => true));
    await Promise.all(statements.map(refusalOf)); // those that waited for a connection got a new one
    expect(await ask(storage)).toEqual([{ one: 1 }]);
    expect(pool.totalCount - pool.idleCount).toBe(0);
  }
  await storage.close();
});

test("close ends with a transaction on a silent connection", async () => {
  const storage = await open();
  const { promise: inside, resolve: enter } = Promise.withResolvers<void>();
  const refusal = refusalOf(
    storage.orm.em.fork().transactional(async (em) => {
      await em.execute("select 1");
      door.forsake();
      enter();
      await em.execute("select 1");
    }),
  );
  await inside;
  await storage.close();
  expect(isUnreachable(await refusal)).toBe(true);
});

test("what a transaction on a silent connection has locked is free again soon", async () => {
  const storage = await open();
  await storage.pool.query("create table thing (id int primary key)");
  await storage.pool.query("insert into thing values (1)");
  const lock = () =>
    storage.orm.em.fork().transactional((em) => em.execute("select id from thing where id = 1 for update"));
  const refusal = await refusalOf(
    storage.orm.em.fork().transactional(async (em) => {
      await em.execute("select id from thing where id = 1 for update");
      door.forsake();
      await em.execute("select 1");
    }),
  );
  expect(isUnreachable(refusal)).toBe(true);
  let refused = 0;
  while (isUnreachable(await refusalOf(lock()))) {
    expect(++refused).toBeLessThan(20);
  }
  await storage.close();
});

test("a statement that takes longer than the limit fails, rows of a snapshot and migrations do not", async () => {
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query("select pg_advisory_lock(hashtext('tollgate migrations'))");
  const opening = open();
  await pause(3 * patience.answerMs, "migrations wait longer than a statement may");
  await other.end();
  const storage = await opening;
  const slow = `select pg_sleep(${(3 * patience.answerMs) / 1000})`;
  expect(await refusalOf(storage.orm.em.fork().execute(slow))).toMatchObject({ code: "ETIMEDOUT" });
  const snapshot = await storage.snapshot();
  for await (const rows of snapshot.rows(slow)) {
    expect(rows).toHaveLength(1);
    await pause(3 * patience.answerMs, "a slow reader");
  }
  expect((await snapshot.rows("select 1 as one").next()).value).toEqual([{ one: 1 }]);
  await snapshot.close();
  await storage.close();
});

/** Reads rows piece by piece through a cursor, as copies of tables do. */
const streamOf = ({ orm }: PostgresqlStorage, sql: string, rowsInPiece: number) =>
  orm.em.getDriver().getConnection().stream<{ n: number }>(sql, [], undefined, undefined, rowsInPiece);

async function readAll(rows: AsyncIterable<unknown>): Promise<number> {
  let read = 0;
  for await (const _ of rows) {
    read++;
  }
  return read;
}

test("rows of a cursor may take longer than the limit in all, and so may their reader", async () => {
  const storage = await open();
  const pieceMs = patience.answerMs / 5;
  expect(
    await readAll(streamOf(storage, `select n, pg_sleep(${pieceMs / 1000}) from generate_series(1, 10) n`, 1)),
  ).toBe(10);
  for await (const { n } of streamOf(storage, "select n from generate_series(1, 3) n", 1)) {
    if (n === 2) {
      await pause(3 * patience.answerMs, "a slow reader");
    }
  }
  expect(await ask(storage)).toEqual([{ one: 1 }]);
  await storage.close();
});

test("a cursor whose next rows do not come within the limit fails, and costs no connection", async () => {
  const storage = await open();
  const slow = `select pg_sleep(${(3 * patience.answerMs) / 1000}) from generate_series(1, 2)`;
  const silence = { code: "ETIMEDOUT", message: `the database gave no answer for ${patience.answerMs} ms` };
  expect(await refusalOf(readAll(streamOf(storage, slow, 1)))).toMatchObject(silence);
  const forsaken = async () => {
    for await (const { n } of streamOf(storage, "select n from generate_series(1, 3) n", 1)) {
      if (n === 2) {
        door.forsake();
      }
    }
  };
  expect(await refusalOf(forsaken())).toMatchObject(silence);
  const left = async () => {
    for await (const _ of streamOf(storage, "select n from generate_series(1, 3) n", 1)) {
      door.forsake();
      return; // closes the cursor, which asks the server
    }
  };
  await refusalOf(left());
  expect(await ask(storage)).toEqual([{ one: 1 }]);
  expect(storage.pool.totalCount).toBe(1);
  await storage.close();
});

test.each([
  ["its own limit", never, 300, 300],
  ["the limit of all, where its own is longer", patience, 60_000, patience.answerMs],
])("a brief statement fails after %s", async (_, bounds, mostAnswerMs, ms) => {
  const { pool, ...storage } = await open(bounds);
  const brief: BriefQuery = { text: "select pg_sleep(30)", mostAnswerMs };
  expect(await refusalOf(pool.query(brief))).toMatchObject({
    code: "ETIMEDOUT",
    message: `the database gave no answer for ${ms} ms`,
  });
  await storage.close();
});

test("a snapshot that cannot begin costs no connection", async () => {
  const storage = await open();
  await ask(storage);
  door.forsake();
  for (let times = 0; times < 6; times++) {
    await refusalOf(storage.snapshot().then((snapshot) => snapshot.close()));
  }
  const snapshot = await storage.snapshot();
  expect((await snapshot.rows("select 1 as one").next()).value).toEqual([{ one: 1 }]);
  await snapshot.close();
  expect(storage.pool.totalCount).toBe(1);
  await storage.close();
});

test("pg alone keeps a connection whose statement timed out, so the workaround is still needed", async () => {
  const client = new Client({ connectionString: door.url });
  client.on("error", () => {});
  await client.connect();
  door.forsake();
  await expect(client.query({ text: "select 1", query_timeout: 200 } as QueryConfig)).rejects.toThrow("timeout");
  const { stream } = (client as unknown as PoolClient).connection;
  expect(stream.destroyed).toBe(false);
  stream.destroy();
});

test("announcements come again after the connection that carries them has gone silent", async () => {
  const storage = await open();
  const teller = await openStorage(url, never);
  const heard: (string | undefined)[] = [];
  const [listening, telling] = [storage, teller as PostgresqlStorage].map(
    ({ pool }, at) => new PostgresqlLedgerStore({ pool, pooled: false }, systemRandom, `core-${at}`),
  ) as [PostgresqlLedgerStore, PostgresqlLedgerStore];
  const listener = (accountId: string | undefined) => void heard.push(accountId);
  await listening.listen(listener);
  await telling.announce("first");
  await eventually("the first is heard", () => heard.length > 0);
  door.forsake();
  await telling.announce("lost");
  await eventually("announcements are heard again", async () => {
    await listening.listen(listener).catch(() => {});
    await telling.announce("second");
    return heard.includes("second");
  });
  expect([...new Set(heard)]).toEqual(["first", undefined, "second"]); // undefined: some may have been missed
  await listening.end();
  await telling.end();
  await Promise.all([storage.close(), teller.close()]);
});

test("behind a pooler announcements come again after the connection that carries them has gone silent", async () => {
  const storage = await openStorage(url, never);
  const { pool } = storage as PostgresqlStorage;
  const options = { clock: systemClock, ended() {}, listenUrl: door.url };
  const listening = createLedgerStore(storage, systemRandom, "core-1", options);
  const telling = new PostgresqlLedgerStore({ pool, pooled: false }, systemRandom, "core-2");
  let heard = 0;
  const listen = () => listening.listen(() => void heard++);
  await listen();
  door.forsake(); // the next question goes unanswered
  await eventually("announcements are heard again", async () => {
    await listen().catch(() => {});
    await telling.announce("account");
    return heard > 0;
  });
  await listening.end();
  door.hang(); // the server takes a connection and says nothing
  const again = createLedgerStore(storage, systemRandom, "core-3", options);
  expect(isUnreachable(await refusalOf(again.listen(() => {})))).toBe(true);
  await again.end();
  await telling.end();
  await storage.close();
}, 90_000);

test("who finds every connection taken waits as long as a connection may take, and the next one gets one that was given back", async () => {
  const storage = await open({ ...never, connectMs: 300 });
  const taken = await Promise.all(Array.from({ length: 10 }, () => storage.pool.connect()));
  expect(isUnreachable(await refusalOf(ask(storage)))).toBe(true);
  for (const client of taken) {
    client.release();
  }
  expect(await ask(storage)).toEqual([{ one: 1 }]);
  await storage.close();
});

test("a server that takes connections and says nothing is waited for no longer than that either", async () => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const { port } = mute.address() as AddressInfo;
  const opening = openStorage(`postgresql://user:password@127.0.0.1:${port}/database`, { ...never, connectMs: 300 });
  await expect(opening).rejects.toThrow("Connection terminated due to connection timeout");
  mute.close();
  for (const socket of sockets) {
    socket.destroy();
  }
});
