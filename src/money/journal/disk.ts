import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { keepFilePrivate } from "#lib/files/private-files.ts";
import { lockFile, lockInstance } from "#src/storage/sqlite/file.ts";

/**
 * The part of a file system that a journal uses, injected so that a simulation can break it. The functions of `node:fs`
 * are those of Node.js.
 */
export interface Disk {
  /** Flags: "a+" and "a" append, wherever the end is by then; "r" opens a directory to sync it. */
  openSync(path: string, flags: "a+" | "a" | "r", mode?: number): number;
  closeSync(descriptor: number): void;
  /** Writes bytes from the offset on. Returns how many were written. */
  writeSync(descriptor: number, bytes: Uint8Array, offset: number): number;
  fstatSync(descriptor: number): { readonly size: number };
  ftruncateSync(descriptor: number, length: number): void;
  fsyncSync(descriptor: number): void;
  fdatasync(descriptor: number, done: (error: Error | null) => void): void;
  /** Calls back at the end of this turn of the event loop. No sync calls back before that. */
  endOfTurn(callback: () => void): void;
  readFileSync(path: string): Buffer;
  renameSync(from: string, to: string): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
  /** Creates a file unless it exists, and makes it private to this user. */
  keepFilePrivate(path: string): void;
  /** Locks a file for this process. Returns the function that unlocks it. Undefined: another process has the lock. */
  lockFile(path: string): (() => void) | undefined;
  /**
   * Whether a path still names an open file: the system goes on writing to a file that was moved, replaced or deleted.
   */
  isInPlace(path: string, descriptor: number): boolean;
  /** Names the lock that `lockFile` has taken. Undefined: the name is unknown. */
  lockInstance(path: string): string | undefined;
}

/** The machine's own disk. */
export const systemDisk: Disk = {
  openSync,
  closeSync,
  writeSync,
  fstatSync,
  ftruncateSync,
  fsyncSync,
  fdatasync,
  readFileSync,
  renameSync,
  mkdirSync,
  keepFilePrivate,
  lockFile,
  lockInstance,
  isInPlace,
  endOfTurn: (callback) => void setImmediate(callback),
};

function isInPlace(path: string, descriptor: number): boolean {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const open = fstatSync(descriptor, { bigint: true });
  return found?.dev === open.dev && found.ino === open.ino;
}

/** Writes all bytes at the end of a file. Returns how many there were. */
export function writeAll(disk: Disk, descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) {
    at += disk.writeSync(descriptor, bytes, at);
  }
  return bytes.length;
}

/** Makes a directory's entries survive a power cut. */
export function syncDirectory(disk: Disk, path: string): void {
  const descriptor = disk.openSync(path, "r");
  try {
    disk.fsyncSync(descriptor);
  } finally {
    disk.closeSync(descriptor);
  }
}

/** Writes a file anew. It is on the disk when this returns. */
export function writeDurably(disk: Disk, path: string, text: string): void {
  const descriptor = disk.openSync(path, "a+", 0o600);
  try {
    disk.ftruncateSync(descriptor, 0);
    writeAll(disk, descriptor, Buffer.from(text));
    disk.fsyncSync(descriptor);
  } finally {
    disk.closeSync(descriptor);
  }
  syncDirectory(disk, dirname(path));
}
