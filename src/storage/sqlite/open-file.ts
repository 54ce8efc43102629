import { MikroORM, SqliteDriver } from "@mikro-orm/sql";
import { migrations as sqliteMigrations } from "../migrations/sqlite/index.ts";
import { ormOptions } from "../orm/orm-options.ts";
import { limited } from "../reads/snapshot.ts";
import type { SqliteStorage } from "../storage.ts";
import { accessFile, accessMemory } from "./access.ts";

/** Opens a file, or a database in memory. Its schema is as it was left. */
export async function openSqlite(path: string, warn: (message: string) => void): Promise<SqliteStorage> {
  const access = path === ":memory:" ? accessMemory() : await accessFile(path, warn);
  const orm = await MikroORM.init({
    ...ormOptions("sqlite", sqliteMigrations),
    driver: SqliteDriver,
    dbName: path,
    driverOptions: access.dialect,
  });
  const { files, database } = access;
  return {
    dialect: "sqlite",
    path,
    files,
    orm,
    snapshot: limited(access.snapshot),
    async exclusive(run) {
      if (database === undefined) {
        throw new Error("the connections of a file are on threads");
      }
      return orm.em
        .getKysely()
        .connection()
        .execute(async () => run(database));
    },
    async close() {
      await orm.close();
      await access.close();
    },
  };
}
