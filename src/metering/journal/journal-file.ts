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
import { keepFilePrivate } from "../../../lib/private-files.ts";

/** A file that is only ever appended to, or replaced as a whole. */
export interface JournalFile {
  /** For people. */
  readonly path: string;
  readonly size: number;
  read(): Uint8Array;
  /** Throws when the disk does not take it all; then nothing of it is in the file. */
  append(text: string): void;
  /** Resolves when everything appended so far is on the disk. */
  sync(): Promise<void>;
  /** Puts a new file in place of this one, at once and on the disk. Not while a sync is under way. */
  replace(text: string): void;
  /** How many lines are kept beside this file. */
  readonly setAside: number;
  /** Keeps lines beside this file, on the disk, each once. */
  keepAside(lines: readonly Uint8Array[]): void;
  close(): void;
}

/** A journal's file on a disk. */
export class DiskFile implements JournalFile {
  readonly path: string;
  #descriptor: number;
  #size: number;
  #setAside: number;

  constructor(path: string) {
    this.path = path;
    keepFilePrivate(path);
    this.#descriptor = openSync(path, "a+");
    this.#size = fstatSync(this.#descriptor).size;
    this.#setAside = this.#readAside().length;
  }

  get size(): number {
    return this.#size;
  }

  get setAside(): number {
    return this.#setAside;
  }

  read(): Uint8Array {
    return readFileSync(this.path);
  }

  append(text: string): void {
    try {
      this.#size += writeAll(this.#descriptor, Buffer.from(text));
    } catch (error) {
      ftruncateSync(this.#descriptor, this.#size);
      throw error;
    }
  }

  replace(text: string): void {
    const next = `${this.path}.next`;
    const descriptor = openSync(next, "w+", 0o600);
    try {
      const size = writeAll(descriptor, Buffer.from(text));
      fsyncSync(descriptor);
      renameSync(next, this.path);
      syncDirectory(dirname(this.path));
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
      this.#size = size;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  keepAside(lines: readonly Uint8Array[]): void {
    const kept = new Set(this.#readAside());
    const more = [...new Set(lines.map(toBinary))].filter((line) => !kept.has(line));
    const descriptor = openSync(this.#asidePath, "a", 0o600);
    try {
      writeAll(descriptor, Buffer.from(more.map((line) => `${line}\n`).join(""), "latin1"));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncDirectory(dirname(this.path));
    this.#setAside = kept.size + more.length;
  }

  get #asidePath(): string {
    return `${this.path}.aside`;
  }

  /** The lines that are kept beside the file, byte by byte. */
  #readAside(): string[] {
    try {
      return toBinary(readFileSync(this.#asidePath))
        .split("\n")
        .filter((line) => line !== "");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        return [];
      }
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

/** Bytes as a text of as many characters. */
function toBinary(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function writeAll(descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(descriptor, bytes, at);
  }
  return bytes.length;
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
