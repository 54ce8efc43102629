import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, type Pool } from "pg";
import { checkStorage } from "#src/cli/check/findings/storage.ts";
import { migrateStorage } from "#src/cli/migrate/migrate-storage.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { retryConflicts } from "#src/storage/retry.ts";
import { type DatabaseServer, useServer } from "../../../scripts/test-services/postgres-server.ts";

// A server whose operator has set everything that could harm us.

let server: DatabaseServer;
beforeAll(async () => {
  server = await useServer();
}, 60_000);
afterAll(() => server.stop(), 60_000);

const hostile = {
  synchronous_commit: "off",
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  statement_timeout: "20",
  lock_timeout: "1",
  idle_in_transaction_session_timeout: "1",
  TimeZone: "Asia/Kathmandu",
  standard_conforming_strings: "off",
  bytea_output: "escape",
};

async function withPool<T>(url: string, use: (pool: Pool, warnings: readonly string[]) => Promise<T>): Promise<T> {
  const warnings: string[] = [];
  const storage = await openStorage(url, undefined, (warning) => void warnings.push(warning));
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  try {
    return await use(storage.pool, warnings);
  } finally {
    await storage.close();
  }
}

test("every session has our settings, whatever the database says", async () => {
  const url = await server.createDatabase();
  await withPool(url, async (pool) => {
    const name = new URL(url).pathname.slice(1);
    for (const [setting, value] of Object.entries(hostile)) {
      await pool.query(`alter database ${name} set ${setting} = '${value}'`);
    }
  });
  await withPool(url, async (pool, warnings) => {
    const names = [...Object.keys(hostile), "transaction_isolation"];
    const { rows } = await pool.query("select name, setting from pg_settings where name = any($1)", [names]);
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      synchronous_commit: "on",
      default_transaction_isolation: "read committed",
      transaction_isolation: "read committed",
      default_transaction_read_only: "off",
      statement_timeout: "0",
      lock_timeout: "0",
      idle_in_transaction_session_timeout: "20000",
      TimeZone: "UTC",
      standard_conforming_strings: "on",
      bytea_output: "hex",
    });
    expect(warnings).toEqual([expect.stringContaining("fsync")]); // the tests' server does not sync
  });
});

test.each([
  ["SQL_ASCII", "counts bytes where characters are meant"],
  ["LATIN1", "cannot store every character of a name"],
])(
  "a database in %s is refused before anything is written, at a start, by a move to it and by check",
  async (encoding, harm) => {
    const serverUrl = await server.createDatabase();
    const name = `in_${encoding.toLowerCase()}`;
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    await client.query(`create database ${name} template template0 encoding '${encoding}' locale 'C'`);
    await client.end();
    const url = new URL(`/${name}`, serverUrl).href;
    const refusal = `database ${name} has the encoding ${encoding}, which ${harm}: make another with create database NAME template template0 encoding 'UTF8' locale 'C', and give its address`;
    await expect(openStorage(url)).rejects.toThrow(`PostgreSQL: ${refusal}`);
    const folder = await mkdtemp(join(tmpdir(), "tollgate-"));
    const source = `sqlite:${join(folder, "tollgate.db")}`;
    await openStorage(source).then((storage) => storage.close());
    await expect(migrateStorage(source, url, { progress: () => {} })).rejects.toThrow(refusal);
    await rm(folder, { recursive: true });
    expect(await checkStorage(url)).toMatchObject({ status: "wrong", message: expect.stringContaining(refusal) });
    const database = new Client({ connectionString: url });
    await database.connect();
    const { rows } = await database.query("select count(*)::int as tables from pg_tables where schemaname = 'public'");
    await database.end();
    expect(rows).toEqual([{ tables: 0 }]);
  },
);

test("a commit that waits for standbys too stays as the operator wants it", async () => {
  const url = await server.createDatabase();
  await withPool(url, (pool) =>
    pool.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = remote_apply`),
  );
  const { rows } = await withPool(url, (pool) => pool.query("show synchronous_commit"));
  expect(rows).toEqual([{ synchronous_commit: "remote_apply" }]);
});

test("transactions that lock each other out are run anew until both are done", async () => {
  await withPool(await server.createDatabase(), async (pool) => {
    await pool.query("create table pair (id int primary key, value int); insert into pair values (1, 0), (2, 0)");
    let met = 0;
    const add = async (first: number, second: number) => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await client.query("update pair set value = value + 1 where id = $1", [first]);
        const deadline = performance.now() + 5000;
        met++;
        while (met < 2 && performance.now() < deadline) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        await client.query("update pair set value = value + 1 where id = $1", [second]);
        await client.query("commit");
        client.release();
      } catch (error) {
        client.release(true);
        throw error;
      }
    };
    await Promise.all([retryConflicts(() => add(1, 2)), retryConflicts(() => add(2, 1))]);
    expect(met).toBeGreaterThan(2); // one of them was ended and run again
    const { rows } = await pool.query("select value from pair");
    expect(rows).toEqual([{ value: 2 }, { value: 2 }]);
  });
});

test("what goes on being ended in favour of others is given up, as unavailable", async () => {
  let runs = 0;
  const run = async () => {
    runs++;
    throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
  };
  const error = await retryConflicts(run).catch((thrown: unknown) => thrown);
  expect(isUnreachable(error)).toBe(true);
  expect(runs).toBe(6);
});

test("a connection that may no longer write is left, so that the next one finds the new primary", async () => {
  await withPool(await server.createDatabase(), async (pool) => {
    const client = await pool.connect();
    await client.query("set default_transaction_read_only = on"); // as it is on a standby
    const refused = await client.query("create table t (id int)").catch((thrown: unknown) => thrown);
    expect(isUnreachable(refused)).toBe(true);
    await expect(client.query("select 1")).rejects.toThrow();
    client.release(true);
    await pool.query("create table t (id int)");
  });
});
