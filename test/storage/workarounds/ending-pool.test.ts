import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type DatabaseServer, useServer } from "../../../scripts/test-services/postgres-server.ts";

let server: DatabaseServer;
beforeAll(async () => {
  server = await useServer();
}, 60_000);
afterAll(() => server.stop(), 60_000);

test("a database that is closed while connections are made ends, and again", async () => {
  const storage = await openStorage(await server.createDatabase());
  const asked = Array.from({ length: 8 }, () => storage.orm.em.fork().execute("select 1 as one"));
  const outcomes = Promise.allSettled(asked);
  await new Promise((resolve) => setImmediate(resolve)); // connections are on their way now
  await storage.close();
  await storage.close();
  const answers = (await outcomes).filter(({ status }) => status === "fulfilled");
  expect(answers.length).toBeGreaterThan(0); // whose connection was being made still gets an answer
}, 60_000);

test("Kysely alone keeps a connection that comes while it is destroyed, so the workaround is still needed", async () => {
  const pool = new Pool({ connectionString: await server.createDatabase() });
  const made = new Promise<{ release(): void }>((resolve) => pool.on("connect", resolve));
  const database = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const asked = database.introspection.getSchemas();
  await new Promise((resolve) => setImmediate(resolve));
  const destroyed = database.destroy();
  await expect(asked).rejects.toThrow("Cannot read properties of undefined");
  const client = await made;
  expect(pool.totalCount).toBe(1);
  const removed = once(pool, "remove"); // a pool has ended before its connection has
  client.release();
  await Promise.all([removed, destroyed]);
});
