import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { keepFilePrivate } from "../../../lib/private-files.ts";
import { FIRST_RUN } from "../ledger/run.ts";
import type { Charge } from "../store/ledger-store.ts";
import type { JournalEntry } from "./journal.ts";

/** One thing that a journal remembers. */
export type JournalRecord =
  | { readonly note: JournalEntry }
  /** By runKey. */
  | { readonly forget: string }
  | { readonly promise: Charge };

/**
 * Records as one line: a checksum, so that a torn or rotten line is told from a whole one, and JSON. Many records in one
 * line cost a quarter of as many lines, but are lost together.
 */
export function encode(records: readonly JournalRecord[]): string {
  if (records.length === 0) return "";
  const json = JSON.stringify(records);
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

/** The records of a file. Lines that are not whole are left out: they were never relied upon. */
export function decode(text: string): JournalRecord[] {
  return text.split("\n").flatMap((line) => {
    const json = line.slice(9);
    const whole = line.length > 9 && line.slice(0, 8) === crc32(json).toString(16).padStart(8, "0");
    return whole ? (JSON.parse(json) as JournalRecord[]).map(withRun) : [];
  });
}

/** A record with its run's id, which those of before 0.2 lack. */
function withRun(record: JournalRecord): JournalRecord {
  if ("note" in record) return { note: { ...record.note, runId: record.note.runId ?? FIRST_RUN } };
  if ("promise" in record) return { promise: { ...record.promise, runId: record.promise.runId ?? FIRST_RUN } };
  return record;
}

/** A file that is only ever appended to, or replaced as a whole. */
export interface JournalFile {
  readonly size: number;
  read(): string;
  /** Throws when the disk does not take it all; then nothing of it is in the file. */
  append(text: string): void;
  /** Resolves when everything appended so far is on the disk. */
  sync(): Promise<void>;
  /** Puts a new file in place of this one, at once and on the disk. Not while a sync is under way. */
  replace(text: string): void;
  close(): void;
}

/** A journal's file on a disk. */
export class DiskFile implements JournalFile {
  readonly #path: string;
  #descriptor: number;
  #size: number;

  constructor(path: string) {
    this.#path = path;
    keepFilePrivate(path);
    this.#descriptor = openSync(path, "a+");
    this.#size = fstatSync(this.#descriptor).size;
  }

  get size(): number {
    return this.#size;
  }

  read(): string {
    return readFileSync(this.#path, "utf8");
  }

  append(text: string): void {
    try {
      this.#size += writeAll(this.#descriptor, text);
    } catch (error) {
      ftruncateSync(this.#descriptor, this.#size);
      throw error;
    }
  }

  replace(text: string): void {
    const next = `${this.#path}.next`;
    const descriptor = openSync(next, "w+", 0o600);
    try {
      const size = writeAll(descriptor, text);
      fsyncSync(descriptor);
      renameSync(next, this.#path);
      syncDirectory(dirname(this.#path));
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
      this.#size = size;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function writeAll(descriptor: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  return bytes.length;
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
