import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { dialects, emptyDatabases } from "../money/databases.ts";

const newDatabase = emptyDatabases();

/** Runs statements on a database that no program has open. */
async function run(url: string, sql: string): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const database = new DatabaseSync(url.slice("sqlite:".length));
    database.exec(sql);
    database.close();
    return;
  }
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}

describe.each(dialects)("%s", (dialect) => {
  test("a program that is older than the database refuses it, and leaves it as it is", async () => {
    const url = await newDatabase(dialect);
    await (await openStorage(url)).close();
    await run(url, "insert into mikro_orm_migrations (name) values ('Migration29990101000000')");
    await expect(openStorage(url)).rejects.toThrow("upgraded by a newer tollgate (Migration29990101000000)");
    await run(url, "delete from mikro_orm_migrations where name = 'Migration29990101000000'");
    await (await openStorage(url)).close();
  });

  test("a database of the baseline's name goes on, whatever migrations it stands for", async () => {
    const url = await newDatabase(dialect);
    await (await openStorage(url)).close();
    await run(
      url,
      `delete from mikro_orm_migrations where name = 'Migration20261126000018';
       insert into mikro_orm_migrations (name)
       values ('Migration20261125000000'), ('Migration20261126000017'), ('Migration20261126000018')`,
    );
    const storage = await openStorage(url);
    expect(await storage.orm.migrator.getPending()).toEqual([]);
    await storage.close();
    await run(url, "insert into mikro_orm_migrations (name) values ('Migration20261126000019')");
    await expect(openStorage(url)).rejects.toThrow("upgraded by a newer tollgate (Migration20261126000019)");
  });

  test("a database from before the first release is refused in one sentence, and left as it is", async () => {
    const url = await newDatabase(dialect);
    const id = dialect === "sqlite" ? "integer primary key autoincrement" : "serial primary key";
    await run(
      url,
      `create table mikro_orm_migrations (id ${id}, name varchar(255), executed_at timestamp default current_timestamp);
       insert into mikro_orm_migrations (name) values ('Migration20261125000000'), ('Migration20261126000017');
       create table account (id varchar(36) primary key)`,
    );
    for (let start = 0; start < 2; start++) {
      await expect(openStorage(url)).rejects.toThrow(
        /^the database is from before the first release \(Migration20261125000000\): commit e5b30f13 is the last that reads it$/,
      );
    }
    await run(url, "insert into account (id) values ('as it was')");
  });
});
