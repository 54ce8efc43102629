import { type FileHandle, open, stat } from "node:fs/promises";
import type { Format } from "./formats.ts";

/** The bytes at the end of a file that are read to find its last line. */
const tailBytes = 1_048_576;

/** A file of rows, written piece by piece. */
export interface ExportFile {
  /** The last row that an earlier run wrote completely. Undefined: this run begins the file. */
  readonly last: Readonly<Record<string, unknown>> | undefined;
  write(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /** Syncs the file to the disk and closes it. */
  close(): Promise<void>;
}

/**
 * Opens a file for writing. `resume` continues after the last complete line of an existing file. `columns`: the columns
 * of its rows. Throws when an existing file would be overwritten, or is not of this format.
 */
export async function openExport(
  path: string,
  format: Format,
  { columns, resume }: { readonly columns: readonly string[]; readonly resume: boolean },
): Promise<ExportFile> {
  const found = await stat(path).catch(() => undefined);
  const hasRows = found?.isFile() === true && found.size > 0;
  if (hasRows && !resume) {
    throw new Error(`${path} is there already: name another file, or go on with it by --resume`);
  }
  const file = await open(path, hasRows ? "r+" : "a", 0o600); // what customers used is nobody else's
  try {
    const { last, end } = hasRows ? await readLast(file, path, { format, columns }) : { last: undefined, end: 0 };
    if (hasRows) {
      await file.truncate(end);
    }
    let at: number | null = hasRows ? end : null;
    const append = async (text: string) => {
      const { bytesWritten } = await writeAll(file, text, at);
      at = at === null ? null : at + bytesWritten;
    };
    const header = format.header(columns);
    if (end === 0 && header !== undefined) {
      await append(`${header}\n`);
    }
    return {
      last,
      write: (rows) => append(rows.map((row) => `${format.line(row)}\n`).join("")),
      async close() {
        await file.sync().catch(() => {}); // pipes cannot be synced
        await file.close();
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function writeAll(file: FileHandle, text: string, at: number | null) {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    const place = at === null ? null : at + written;
    written += (await file.write(bytes, written, bytes.length - written, place)).bytesWritten;
  }
  return { bytesWritten: written };
}

/** The last complete line as a row, and the position after it. Any bytes behind it are an incomplete line. */
async function readLast(
  file: FileHandle,
  path: string,
  { format, columns }: { readonly format: Format; readonly columns: readonly string[] },
) {
  const { size } = await file.stat();
  const from = Math.max(0, size - tailBytes);
  const bytes = Buffer.alloc(size - from);
  await file.read(bytes, 0, bytes.length, from);
  const end = bytes.lastIndexOf("\n") + 1;
  const line = bytes.subarray(bytes.lastIndexOf("\n", end - 2) + 1, Math.max(0, end - 1)).toString();
  if (end === 0 || line === format.header(columns)) {
    return { last: undefined, end: from + end };
  }
  const last = format.read(line, columns);
  if (last === undefined || columns.some((name) => !(name in last))) {
    throw new Error(`${path} was not written by this command, or in another format`);
  }
  return { last, end: from + end };
}
