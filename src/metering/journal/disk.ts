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
  writeFileSync,
  writeSync,
} from "node:fs";
import { keepFilePrivate } from "../../../lib/private-files.ts";
import { lockFile, lockInstance } from "../../storage/sqlite.ts";

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
  readFileSync(path: string): Buffer;
  writeFileSync(path: string, text: string): void;
  renameSync(from: string, to: string): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
  /** Makes a file unless there is one, and takes it from other users. */
  keepFilePrivate(path: string): void;
  /** Takes a file for this process alone. Returns the function that gives it back; undefined: another process has it. */
  lockFile(path: string): (() => void) | undefined;
  /** Names the lock that `lockFile` has taken. Undefined: it cannot be told. */
  lockInstance(path: string): string | undefined;
}

/** The machine's own disk. */
export const systemDisk: Disk = {
  ...{ openSync, closeSync, writeSync, fstatSync, ftruncateSync, fsyncSync, fdatasync, readFileSync },
  ...{ writeFileSync, renameSync, mkdirSync, keepFilePrivate, lockFile, lockInstance },
};
