import { resolve } from "node:path";
import { explainDiskFault } from "#lib/errors/disk-faults.ts";
import { askBehindPooler } from "../postgresql/behind-pooler.ts";
import { daysAheadOf, makeDays } from "../postgresql/days.ts";
import { History } from "../postgresql/history.ts";
import { openServer } from "../postgresql/open-server.ts";
import { listMigrationsIn, makeSchema, schemaOf } from "../postgresql/schema.ts";
import { checkServer, sessionSetup } from "../postgresql/session.ts";
import { Standby, type StandbyOptions } from "../postgresql/standby.ts";
import { openSqlite } from "../sqlite/open-file.ts";
import type { Patience, Storage } from "../storage.ts";
import { migrate, migrateAlone } from "./migrate.ts";

const usualPatience: Patience = { connectMs: 10_000, answerMs: 20_000 };
/**
 * Opens `sqlite:PATH`, `sqlite::memory:` or `postgresql://…`, of several servers the one that takes writes, and brings its
 * schema up to date. Throws when another process has the SQLite file, when a newer version of the program or one from
 * before the first release made the schema, or when the server cannot be written to. Warns of dangerous settings of a
 * server, and whenever a thread of a file ends. The standby is not needed for a start;
 * `history`: what the process knows of an earlier one's database. Absent: nothing.
 */
export async function openStorage(
  url: string,
  patience = usualPatience,
  warn: (message: string) => void = () => {},
  {
    standby,
    history = new History(),
  }: { readonly standby?: StandbyOptions | undefined; readonly history?: History } = {},
): Promise<Storage> {
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length);
    try {
      return await migrated(await openSqlite(path, warn), migrate);
    } catch (error) {
      throw explainDiskFault(resolve(path), error);
    }
  }
  const { storage, limit } = await openServer(url, patience, history);
  let pooled = false;
  await migrated(storage, async () => {
    const schema = schemaOf(url);
    if (schema !== undefined) {
      await makeSchema(storage.pool, schema);
    }
    const server = await checkServer(storage.pool);
    for (const finding of server.findings) {
      warn(finding);
    }
    pooled = server.pooled;
    listMigrationsIn(storage.orm, server.schema);
    await migrateAlone(storage);
    await makeDays(storage.pool, daysAheadOf(Date.now()));
  });
  limit.begin(patience.answerMs); // only now: a migration may build an index over all rows
  if (pooled) {
    askBehindPooler(storage.pool, history, patience.connectMs);
  }
  if (standby === undefined) {
    return { ...storage, pooled };
  }
  const second = new Standby(storage.pool, standby, sessionSetup(patience.answerMs));
  const close = () => second.close().finally(() => storage.close());
  return { ...storage, pooled, standby: second, close };
}

async function migrated<T extends Storage>(storage: T, bringUpToDate: (storage: T) => Promise<void>): Promise<T> {
  try {
    await bringUpToDate(storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
  return storage;
}
