import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { eventually } from "../../support/eventually.ts";

// A database server that dies under transactions, again and again: more of them than the pool has connections.

const crashCount = 3;

let server: PostgresqlServer;
beforeAll(async () => {
  server = await startPostgresql();
}, 60_000);
afterAll(() => server.stop(), 60_000);

/** Transactions as the program makes them, each caught by the crash at another place. */
const transactions = ({ orm, pool }: PostgresqlStorage, crash: Promise<void>, inside: () => void) => [
  orm.em.fork().transactional(async (em) => {
    await em.execute("select 1");
    inside();
    await crash;
    await em.execute("select 1");
  }),
  orm.em.fork().transactional(async (em) => {
    inside();
    await em.execute("select pg_sleep(60)");
  }),
  orm.em.fork().transactional(async () => {
    inside();
    await crash;
  }),
  orm.em
    .getKysely()
    .transaction()
    .execute(async () => {
      inside();
      await crash;
      throw new Error("rolls back");
    }),
  pool.connect().then(async (client) => {
    inside();
    await crash;
    await client.query("select 1").finally(() => client.release());
  }),
];

test("a server that crashes under many transactions costs the pool no connection", async () => {
  const storage = (await openStorage(await server.createDatabase())) as PostgresqlStorage;
  for (let crashes = 0; crashes < crashCount; crashes++) {
    const { promise: crash, resolve: crashed } = Promise.withResolvers<void>();
    const { promise: allInside, resolve: enter } = Promise.withResolvers<void>();
    let inside = 0;
    const caught = transactions(storage, crash, () => {
      if (++inside === 5) {
        enter();
      }
    });
    const outcomes = Promise.allSettled(caught);
    await allInside;
    await server.crash();
    crashed();
    expect((await outcomes).map(({ status }) => status)).toEqual(caught.map(() => "rejected"));
    await eventually("the pool has dropped what was lost", () => storage.pool.totalCount === 0);
    await server.restart();
    const answers = Array.from({ length: 20 }, () => storage.orm.em.fork().execute("select 1 as one"));
    expect(await Promise.all(answers)).toEqual(answers.map(() => [{ one: 1 }]));
  }
  await storage.close();
}, 120_000);

test("transactions that cannot begin on connections that have gone stale cost none either", async () => {
  const storage = (await openStorage(await server.createDatabase())) as PostgresqlStorage;
  const { pool, orm } = storage;
  for (let times = 0; times < 2; times++) {
    // They look alive to the pool, and nothing can be sent over them.
    const clients = await Promise.all(Array.from({ length: 10 }, () => pool.connect()));
    for (const client of clients) {
      client.release();
    }
    for (const client of clients) {
      client.connection.stream.end();
    }
    await Promise.allSettled(Array.from({ length: 10 }, () => orm.em.fork().transactional(async () => {})));
    expect(await orm.em.fork().execute("select 1 as one")).toEqual([{ one: 1 }]);
    expect(pool.totalCount - pool.idleCount).toBe(0);
  }
  await storage.close();
}, 60_000);

test("Kysely alone keeps the connection of a transaction that cannot begin, so the workaround is still needed", async () => {
  const pool = new Pool({ connectionString: await server.createDatabase() });
  pool.on("error", () => {});
  const client = await pool.connect();
  client.on("error", () => {});
  client.release();
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  client.connection.stream.end();
  const database = new Kysely({ dialect: new PostgresDialect({ pool }) });
  await expect(database.startTransaction().execute()).rejects.toThrow();
  await ended;
  expect(pool.totalCount - pool.idleCount).toBe(1);
  client.release(true);
  await pool.end();
});

test("who has a connection may give it back before or after it is lost, and another may be taken meanwhile", async () => {
  const storage = (await openStorage(await server.createDatabase())) as PostgresqlStorage;
  const { pool } = storage;
  const lose = async () => {
    const client = await pool.connect();
    client.on("error", () => {});
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    return { client, ended };
  };
  const first = await lose();
  first.client.connection.stream.destroy();
  await first.ended;
  first.client.release();
  first.client.release(true);
  const second = await lose();
  second.client.connection.stream.destroy();
  second.client.release();
  await second.ended;
  const third = await lose();
  third.client.release(true);
  await third.ended;
  const fourth = await lose();
  fourth.client.release();
  expect(() => fourth.client.release()).toThrow("already been released"); // one that is not lost keeps the pool's own guard
  expect(pool.totalCount).toBe(1);
  await storage.close();
});
