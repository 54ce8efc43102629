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
import { keepFilePrivate } from "../../../lib/private-files.ts";
import { lockFile, lockInstance } from "../../storage/sqlite/file.ts";

/**
 * The part of a file system that a journal stands on, injected so that a simulation can break it. The functions of
 * `node:fs` are as Node.js has them.
 */
export interface Disk {
  /** Flags: "a+" and "a" append, "w+" begins anew, "r" opens a directory to sync it. */
  openSync(path: string, flags: "a+" | "a" | "w+" | "r", mode?: number): number;
  closeSync(descriptor: number): void;
  /** Returns how many bytes it took, of those from the offset on. */
  writeSync(descriptor: number, bytes: Uint8Array, offset: number): number;
  fstatSync(descriptor: number): { readonly size: number };
  ftruncateSync(descriptor: number, length: number): void;
  fsyncSync(descriptor: number): void;
  fdatasync(descriptor: number, done: (error: Error | null) => void): void;
  /** Calls back at the end of this turn of the event loop: no sync is heard of before that. */
  endOfTurn(callback: () => void): void;
  readFileSync(path: string): Buffer;
  renameSync(from: string, to: string): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
  /** Makes a file unless there is one, and takes it from other users. */
  keepFilePrivate(path: string): void;
  /** Takes a file for this process alone. Returns the function that gives it back; undefined: another process has it. */
  lockFile(path: string): (() => void) | undefined;
  /** Whether a path still names an open file: the system goes on writing to one that was moved, replaced or deleted. */
  isInPlace(path: string, descriptor: number): boolean;
  /** Names the lock that `lockFile` has taken. Undefined: it cannot be told. */
  lockInstance(path: string): string | undefined;
}

/** The machine's own disk. */
export const systemDisk: Disk = {
  ...{ openSync, closeSync, writeSync, fstatSync, ftruncateSync, fsyncSync, fdatasync, readFileSync },
  ...{ renameSync, mkdirSync, keepFilePrivate, lockFile, lockInstance },
  isInPlace,
  endOfTurn: (callback) => void setImmediate(callback),
};

function isInPlace(path: string, descriptor: number): boolean {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const open = fstatSync(descriptor, { bigint: true });
  return found?.dev === open.dev && found.ino === open.ino;
}

/** Writes bytes at the end of a file. Returns how many. */
export function writeAll(disk: Disk, descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) {
    at += disk.writeSync(descriptor, bytes, at);
  }
  return bytes.length;
}

/** Has a directory's names outlive a power cut. */
export function syncDirectory(disk: Disk, path: string): void {
  const descriptor = disk.openSync(path, "r");
  disk.fsyncSync(descriptor);
  disk.closeSync(descriptor);
}

/** Writes a file anew, on the disk when it returns. */
export function writeDurably(disk: Disk, path: string, text: string): void {
  const descriptor = disk.openSync(path, "w+", 0o600);
  try {
    writeAll(disk, descriptor, Buffer.from(text));
    disk.fsyncSync(descriptor);
  } finally {
    disk.closeSync(descriptor);
  }
  syncDirectory(disk, dirname(path));
}
