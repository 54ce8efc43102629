import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type DatabaseServer, useServer } from "../../../scripts/test-services/postgres-server.ts";

const nameKey = toNameKey("name");

let server: DatabaseServer;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-storage-"));
  server = await useServer();
}, 60_000);
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const newAccount = () => ({
  id: v7(),
  name: "",
  maxKeys: 20,
  createdAt: new Date(1_700_000_000_123),
  paidTotal: 0n,
  debt: 0n,
});

describe.each(["sqlite", "postgresql"] as const)("%s", (dialect) => {
  const url = async () =>
    dialect === "sqlite" ? `sqlite:${join(directory, `${v7()}.db`)}` : await server.createDatabase();

  test("a database server that cannot be used is told as one", async () => {
    await expect(openStorage("postgresql://u:p@127.0.0.1:1/x")).rejects.toThrow(
      "PostgreSQL: connect ECONNREFUSED 127.0.0.1:1: check that it runs, and TOLLGATE_STORAGE_URL or storage.url",
    );
    await expect(openStorage("postgresql://u:p@ss:w/rd@127.0.0.1/x")).rejects.toThrow("PostgreSQL: Invalid URL");
  });

  test("migrations make exactly the schema of the entities, and run once", async () => {
    const at = await url();
    for (let start = 0; start < 2; start++) {
      const storage = await openStorage(at);
      expect(storage.dialect).toBe(dialect);
      expect(await storage.orm.schema.getUpdateSchemaSQL()).toBe("");
      expect(await storage.orm.migrator.getPending()).toEqual([]);
      expect(await storage.orm.migrator.checkSchema()).toBe(false);
      await storage.close();
    }
  });

  test("keeps rows, times to the millisecond, bytes, and sums above 2^53", async () => {
    const at = await url();
    const account = { ...newAccount(), paidTotal: 2n ** 60n + 1n };
    const key = {
      id: v7(),
      accountId: account.id,
      name: "k",
      digest: Buffer.from([0, 255, 39, 92, 10]),
      pepperVersion: 1,
      prefix: "tg-abc",
      last4: "wxyz",
      limits: { rpm: 7 },
      createdAt: account.createdAt,
      revokedAt: null,
      lastUsedAt: null,
      rotatedTo: null,
      rotatedFrom: null,
    };
    const first = await openStorage(at);
    await first.orm.em.fork().insert(Account, { ...account, nameKey });
    await first.orm.em.fork().insert(ApiKey, key);
    await first.close();

    const second = await openStorage(at);
    expect(await second.orm.em.fork().findOneOrFail(Account, account.id)).toMatchObject(account);
    const found = await second.orm.em.fork().findOneOrFail(ApiKey, { digest: key.digest });
    expect({ ...found, digest: Buffer.from(found.digest) }).toMatchObject(key);
    await second.close();
  });

  test("constraints refuse a negative debt and a second key with the same digest", async () => {
    const storage = await openStorage(await url());
    await expect(storage.orm.em.fork().insert(Account, { ...newAccount(), nameKey, debt: -1n })).rejects.toThrow(
      "debt",
    );
    await storage.close();
  });
});

test("cores that start at the same time on PostgreSQL migrate once", async () => {
  const url = await server.createDatabase();
  const storages = await Promise.all([openStorage(url), openStorage(url), openStorage(url)]);
  await Promise.all(storages.map((storage) => storage.close()));
});

test("refuses a second opener of the same SQLite file with a clear message", async () => {
  const path = join(directory, "one.db");
  const storage = await openStorage(`sqlite:${path}`);
  await expect(openStorage(`sqlite:${path}`)).rejects.toThrow("in use by another tollgate process");
  await storage.close();
  await (await openStorage(`sqlite:${path}`)).close();
});
