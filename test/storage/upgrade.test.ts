import { readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import { toDigest } from "../../src/accounts/keys/api-key.ts";
import { reconcile } from "../../src/metering/books/proof/reconcile.ts";
import { readReceipts } from "../../src/metering/books/receipts/receipts.ts";
import { firstRun } from "../../src/metering/ledger/run.ts";
import { ApiKey } from "../../src/storage/entities/api-key.ts";
import { Price } from "../../src/storage/entities/metering/price.ts";
import { migrations as postgresqlMigrations } from "../../src/storage/migrations/postgresql/index.ts";
import { migrations as sqliteMigrations } from "../../src/storage/migrations/sqlite/index.ts";
import { openStorage } from "../../src/storage/orm.ts";
import { dialects, emptyDatabases } from "../metering/databases.ts";

// A database as the first version left it, with customers' money in it, and every migration since on top.

type Row = Record<string, string | number | null>;
const fixture = new URL("first-schema.json", import.meta.url);
const { key, tables } = JSON.parse(readFileSync(fixture, "utf8")) as { key: string; tables: Record<string, Row[]> };
const migrations = { sqlite: sqliteMigrations, postgresql: postgresqlMigrations };
const newDatabase = emptyDatabases();

interface Connection {
  run(sql: string, parameters?: unknown[]): Promise<unknown>;
  close(): Promise<unknown>;
}

async function connect(url: string): Promise<Connection> {
  if (!url.startsWith("sqlite:")) {
    const client = new pg.Client(url);
    await client.connect();
    const numbered = (sql: string) =>
      sql.replaceAll(
        "?",
        (
          (place) => () =>
            `$${++place}`
        )(0),
      );
    return { run: (sql, parameters) => client.query(numbered(sql), parameters), close: () => client.end() };
  }
  const database = new DatabaseSync(url.slice("sqlite:".length));
  return {
    run: async (sql, parameters = []) => database.prepare(sql).run(...(parameters as SQLInputValue[])),
    close: async () => database.close(),
  };
}

/** Makes what the first version of the program made, with its rows. */
async function restoreFirst(dialect: (typeof dialects)[number], url: string): Promise<void> {
  const [first] = migrations[dialect];
  if (first === undefined || typeof first.class !== "function") {
    throw new Error("there is no first migration");
  }
  const migration = new first.class(undefined as never, undefined as never);
  await migration.up?.();
  const connection = await connect(url);
  for (const sql of migration.getQueries?.() ?? []) {
    await connection.run(String(sql));
  }
  const serial = dialect === "sqlite" ? "integer primary key autoincrement" : "serial primary key";
  await connection.run(
    `create table mikro_orm_migrations (id ${serial}, name varchar(255), executed_at timestamp default current_timestamp)`,
  );
  await connection.run("insert into mikro_orm_migrations (name) values (?)", [first.name]);
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      const columns = Object.keys(row);
      const sql = `insert into "${table}" (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
      await connection.run(
        sql,
        columns.map((column) => stored(dialect, column, row[column] ?? null)),
      );
    }
  }
  await connection.close();
}

/** The fixture has bytes as hex, times as milliseconds and switches as 0 or 1, as SQLite keeps the latter two. */
function stored(dialect: string, column: string, value: string | number | null): unknown {
  if (column === "digest") {
    return Buffer.from(String(value), "hex");
  }
  if (dialect === "sqlite" || value === null) {
    return value;
  }
  if (/(^|_)at$/.test(column)) {
    return new Date(Number(value));
  }
  return column === "open" || column === "pinned" ? value === 1 : value;
}

describe.each(dialects)("%s", (dialect) => {
  test("every migration since the first keeps the money, the receipts and the keys", async () => {
    const url = await newDatabase(dialect);
    await restoreFirst(dialect, url);
    const storage = await openStorage(url);
    expect(await storage.orm.schema.getUpdateSchemaSQL()).toBe("");
    expect(await storage.orm.migrator.getPending()).toEqual([]);
    expect(await reconcile(storage)).toMatchObject({
      ok: true,
      accounts: 1n,
      receipts: 3n,
      grantedPicoUsd: "10000013000000",
      balancePicoUsd: "7499971965000",
      spentPicoUsd: "41035000",
      refundedPicoUsd: "2500000000000",
    });
    for (const { request_id: requestId } of tables.usage ?? []) {
      const [receipt, ...further] = await readReceipts(storage, String(requestId), undefined);
      expect(receipt).toMatchObject({ requestId, runId: firstRun, accountId: tables.account?.[0]?.id });
      expect(receipt?.lines.reduce((sum, line) => sum + line.costPicoUsd, 0n)).toBe(receipt?.costPicoUsd);
      expect(further).toEqual([]);
    }
    const prices = await storage.orm.em.fork().find(Price, {}, { orderBy: { versionId: "asc", model: "asc" } });
    expect(prices.map(({ versionId, model, input }) => [versionId, model, input])).toEqual([
      [1, "idle", 100000],
      [1, "one", 200000],
      [2, "one", 220000],
    ]);
    const digest = toDigest(key, { version: 1, secret: "pepper-of-the-test" });
    const found = await storage.orm.em.fork().findOne(ApiKey, { digest });
    expect(found).toMatchObject({ accountId: tables.account?.[0]?.id, pepperVersion: 1, last4: key.slice(-4) });
    await storage.close();
  });

  test("a program that is older than the database refuses it, and leaves it as it is", async () => {
    const url = await newDatabase(dialect);
    await (await openStorage(url)).close();
    const connection = await connect(url);
    await connection.run("insert into mikro_orm_migrations (name) values ('Migration29990101000000')");
    await expect(openStorage(url)).rejects.toThrow("upgraded by a newer tollgate (Migration29990101000000)");
    await connection.run("delete from mikro_orm_migrations where name = 'Migration29990101000000'");
    await connection.close();
    await (await openStorage(url)).close();
  });
});
