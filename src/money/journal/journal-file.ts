import { dirname } from "node:path";
import { type Disk, syncDirectory, systemDisk, writeAll } from "./disk.ts";

/** A file that is only ever appended to, or replaced as a whole. */
export interface JournalFile {
  /** For messages to people. */
  readonly path: string;
  readonly size: number;
  read(): Uint8Array;
  /**
   * Throws when the disk does not take all of the text, or the file is not in its place. Then none of the text is in
   * the file. `isSynced`: a sync follows, which looks for the file's place.
   */
  append(text: string, isSynced?: boolean): void;
  /** Resolves when everything appended so far is on the disk, where the next start finds it. */
  sync(): Promise<void>;
  /** Resolves when all events so far are handled, so that what they append shares one sync. */
  gather(): Promise<void>;
  /** Replaces this file by a new one, atomically and durably. Must not be called while a sync is under way. */
  replace(text: string): void;
  /** The number of lines kept beside this file. */
  readonly setAside: number;
  /** Keeps lines beside this file, on the disk, each only once. */
  keepAside(lines: readonly Uint8Array[]): void;
  close(): void;
}

/** A journal's file on a disk. */
export class DiskFile implements JournalFile {
  readonly path: string;
  readonly #disk: Disk;
  /** Undefined: the file is closed. By then the system may have given its number to another file of this process. */
  #open: number | undefined;
  #size: number;
  #setAside: number;
  /** Whether the file may end with a part of a text that it did not take. */
  #hasRest = false;
  /** Whether a power cut may still show another file under its name. */
  #isNameDue = false;

  constructor(path: string, disk: Disk = systemDisk) {
    this.path = path;
    this.#disk = disk;
    disk.keepFilePrivate(path);
    this.#open = disk.openSync(path, "a+");
    this.#size = disk.fstatSync(this.#open).size;
    this.#setAside = this.#readAside().length;
  }

  get #descriptor(): number {
    if (this.#open === undefined) {
      throw new Error(`${this.path} is closed`);
    }
    return this.#open;
  }

  get size(): number {
    return this.#size;
  }

  get setAside(): number {
    return this.#setAside;
  }

  read(): Uint8Array {
    return this.#disk.readFileSync(this.path);
  }

  append(text: string, isSynced = false): void {
    const descriptor = this.#descriptor;
    this.#removeRest(descriptor);
    this.#hasRest = true; // until it is whole
    try {
      const size = writeAll(this.#disk, descriptor, Buffer.from(text));
      if (!isSynced) {
        this.#mustBeInPlace();
      }
      this.#size += size;
      this.#hasRest = false;
    } catch (error) {
      this.#removeRest(descriptor);
      throw error;
    }
  }

  /** Throws when the disk refuses that, too: then nothing may follow before it is done. */
  #removeRest(descriptor: number): void {
    if (this.#hasRest) {
      this.#disk.ftruncateSync(descriptor, this.#size);
      this.#hasRest = false;
    }
  }

  /** Throws for a file that the next start would not find. */
  #mustBeInPlace(): void {
    if (!this.#disk.isInPlace(this.path, this.#descriptor)) {
      throw new Error(
        `${this.path} was moved, replaced or deleted while it was open: put it back, or start tollgate again`,
      );
    }
  }

  replace(text: string): void {
    const disk = this.#disk;
    this.#mustBeInPlace();
    const next = `${this.path}.next`;
    const before = this.#descriptor;
    const descriptor = disk.openSync(next, "a+", 0o600); // what follows a line that was cut off begins at the end
    let size: number;
    try {
      disk.ftruncateSync(descriptor, 0); // an earlier process may have left it behind
      size = writeAll(disk, descriptor, Buffer.from(text));
      disk.fsyncSync(descriptor);
      disk.renameSync(next, this.path);
    } catch (error) {
      disk.closeSync(descriptor);
      throw error;
    }
    this.#open = descriptor;
    this.#size = size;
    this.#hasRest = false;
    this.#isNameDue = true;
    disk.closeSync(before);
    this.#syncName();
  }

  #syncName(): void {
    if (this.#isNameDue) {
      syncDirectory(this.#disk, dirname(this.path));
      this.#isNameDue = false;
    }
  }

  keepAside(lines: readonly Uint8Array[]): void {
    const disk = this.#disk;
    const kept = new Set(this.#readAside());
    const more = [...new Set(lines.map(toBinary))].filter((line) => !kept.has(line));
    const descriptor = disk.openSync(this.#asidePath, "a", 0o600);
    try {
      writeAll(disk, descriptor, Buffer.from(more.map((line) => `${line}\n`).join(""), "latin1"));
      disk.fsyncSync(descriptor);
    } finally {
      disk.closeSync(descriptor);
    }
    syncDirectory(disk, dirname(this.path));
    this.#setAside = kept.size + more.length;
  }

  get #asidePath(): string {
    return `${this.path}.aside`;
  }

  /** The lines kept beside the file, byte for byte. */
  #readAside(): string[] {
    try {
      return toBinary(this.#disk.readFileSync(this.#asidePath))
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
    const descriptor = this.#descriptor;
    this.#open = undefined;
    this.#disk.closeSync(descriptor);
  }

  gather(): Promise<void> {
    return new Promise((resolve) => this.#disk.endOfTurn(resolve));
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#disk.fdatasync(this.#descriptor, (error) => {
        try {
          if (error) {
            throw error;
          }
          this.#mustBeInPlace();
          this.#syncName();
          resolve();
        } catch (failed) {
          reject(failed);
        }
      });
    });
  }
}

/** Bytes as a text with one character for each byte. */
function toBinary(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
