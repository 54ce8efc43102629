import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Account } from "#src/storage/entities/account.ts";
import { copyMoment } from "#src/storage/orm/copy.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { DocumentRow } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";
import { whileTelling } from "../shared/progress.ts";
import { withStorage } from "../shared/with-storage.ts";
import { findPlace } from "./place.ts";

/** Puts a backup where a service keeps its money. Throws where there is any already. */
export async function restore(from: string, config: string | undefined, io: Io): Promise<DocumentRow> {
  if (!existsSync(from)) {
    throw new Error(`there is no file ${from}`);
  }
  const { dataDir, url, file } = await findPlace(config, io);
  if (file !== undefined) {
    return restoreFile(from, file, dataDir);
  }
  await requireDatabase(from);
  const draft = join(dataDir, `restoring-${process.pid}.db`);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyFile(from, draft); // opening it brings its schema up to date, which the backup itself is kept from
  try {
    requireWhole(draft, from);
    return await withStorage(`sqlite:${draft}`, async (source) =>
      withStorage(url, async (target) => {
        await whileTelling("copying", "rows", io, (report) => copyMoment(source, target, report));
        return { restored: "the database of TOLLGATE_STORAGE_URL", accounts: await countAccounts(target) };
      }),
    );
  } finally {
    await removeDatabase(draft);
  }
}

/** Throws unless it is a file that begins as those of SQLite do. */
async function requireDatabase(path: string): Promise<void> {
  const beginning = "SQLite format 3\0";
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
    if (buffer.toString("latin1") === beginning) {
      return;
    }
  } catch {
    // a folder
  } finally {
    await file.close();
  }
  throw new Error(`${path} is no backup: tollgate backup writes a file of SQLite`);
}

/** Throws unless every page of a copy of a backup is as it was written. */
function requireWhole(draft: string, from: string): void {
  const database = new DatabaseSync(draft);
  try {
    if (database.prepare("pragma quick_check(1)").get()?.quick_check === "ok") {
      return;
    }
  } catch {
    // it ends too early, or its first page is damaged
  } finally {
    database.close();
  }
  throw new Error(`${from} is damaged or cut off: restore another backup`);
}

async function restoreFile(from: string, file: string, dataDir: string): Promise<DocumentRow> {
  for (const there of [file, join(dataDir, "cores")]) {
    if (existsSync(there)) {
      throw new Error(`${there} is there already: restore into an empty data directory`);
    }
  }
  await requireDatabase(from);
  const draft = `${file}.${process.pid}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await copyFile(from, draft);
  await chmod(draft, 0o600);
  try {
    requireWhole(draft, from);
    const accounts = await withStorage(`sqlite:${draft}`, countAccounts);
    await rename(draft, file);
    return { restored: file, accounts };
  } finally {
    await removeDatabase(draft);
  }
}

function countAccounts({ orm }: Storage): Promise<number> {
  return orm.em.fork().count(Account);
}

async function removeDatabase(file: string): Promise<void> {
  await Promise.all(["", "-wal", "-shm", ".lock"].map((ending) => rm(file + ending, { force: true })));
}
