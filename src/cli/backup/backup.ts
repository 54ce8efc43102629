import { existsSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { keepFilePrivate } from "#lib/files/private-files.ts";
import { copyMoment } from "#src/storage/orm/copy.ts";
import type { DocumentRow } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";
import { whileTelling } from "../shared/progress.ts";
import { withStorage } from "../shared/with-storage.ts";
import { findPlace } from "./place.ts";

/** Writes a backup, as a file of SQLite whatever the database is. The file is whole or not there. */
export async function backup(to: string, config: string | undefined, io: Io): Promise<DocumentRow> {
  if (existsSync(to)) {
    throw new Error(`${to} is there already: name another file`);
  }
  if (!existsSync(dirname(to))) {
    throw new Error(`there is no folder ${dirname(to)}: make it, or name a file elsewhere`);
  }
  const { url, file } = await findPlace(config, io);
  const draft = `${to}.${process.pid}`;
  try {
    await (file === undefined ? copyServer(url, draft, io) : copyFile(file, draft));
    await rename(draft, to);
  } catch (error) {
    await Promise.all(["", "-wal", "-shm", ".lock"].map((ending) => rm(draft + ending, { force: true })));
    throw error;
  }
  await rm(`${draft}.lock`, { force: true });
  return { file: to, bytes: (await stat(to)).size };
}

async function copyFile(from: string, to: string): Promise<void> {
  if (!existsSync(from)) {
    throw new Error(`there is no database ${from}: name the service's data directory in TOLLGATE_DATA_DIR`);
  }
  keepFilePrivate(to);
  const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
  try {
    await copyDatabase(database, to);
  } finally {
    database.close();
  }
}

async function copyServer(url: string, to: string, io: Io): Promise<void> {
  await withStorage(url, (source) =>
    withStorage(`sqlite:${to}`, (target) =>
      whileTelling("copying", "rows", io, (report) => copyMoment(source, target, report)),
    ),
  );
}
