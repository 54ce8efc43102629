import { dirname } from "node:path";
import type { Disk } from "#src/money/journal/disk.ts";
import type { Dice } from "./dice.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Timeline } from "./timeline.ts";

/** Milliseconds that a disk takes to sync. */
const syncMs = 1;

/** A file that only grows, or is cut at its end. Its bytes up to `synced` survive a power cut. */
class File {
  synced = 0;
  #bytes = Buffer.alloc(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get content(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  append(more: Uint8Array): void {
    const length = this.#length + more.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(2 * length);
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(more, this.#length);
    this.#length = length;
  }

  cut(length: number): void {
    this.#length = Math.min(this.#length, length);
    this.synced = Math.min(this.synced, this.#length);
  }

  rot(at: number, byte: number): void {
    this.#bytes[at] = byte;
  }
}

/** The ways in which a disk fails. */
export interface DiskFaults {
  /** Bytes that still fit. */
  room: number;
  /** Whether syncing fails. */
  failsToSync: boolean;
  /** Whether it reports a sync that it has not done. */
  lies: boolean;
}

/** The disk of one machine. It survives processes, and a power cut as far as it was synced. */
export class SimulatedDisk {
  readonly faults: DiskFaults = { room: Number.POSITIVE_INFINITY, failsToSync: false, lies: false };
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  #names = new Map<string, File>();
  #durableNames = new Map<string, File>();
  readonly #locks = new Map<string, SimulatedProcess>();
  #boots = 1;

  readonly #machine: string;

  constructor(machine: string, timeline: Timeline, dice: Dice) {
    this.#machine = machine;
    this.#timeline = timeline;
    this.#dice = dice;
  }

  /** Loses unsynced data. A grown file may have reached the disk up to any length. All processes must be dead. */
  cutPower(): void {
    this.#boots++;
    this.#names = new Map(this.#durableNames);
    for (const file of this.#names.values()) {
      file.cut(this.#dice.between(file.synced, file.length));
      file.synced = file.length;
    }
  }

  /** The content of the disk, for a copy. */
  copy(): ReadonlyMap<string, Buffer> {
    return new Map(Array.from(this.#names, ([path, { content }]) => [path, content]));
  }

  /** Replaces all files, by a copy or by none. */
  restore(copy: ReadonlyMap<string, Buffer>): void {
    this.#names.clear();
    for (const [path, content] of copy) {
      const file = this.#make(path);
      file.append(content);
      file.synced = file.length;
    }
    this.#durableNames = new Map(this.#names);
  }

  /** Damages some bytes of an existing file. */
  rot(path: string, bytes: number): void {
    const file = this.#names.get(path);
    for (let times = 0; file !== undefined && file.length > 0 && times < bytes; times++) {
      file.rot(this.#dice.between(0, file.length - 1), this.#dice.between(0, 255));
    }
  }

  #make(path: string): File {
    const file = new File();
    this.#names.set(path, file);
    return file;
  }

  /** The disk as one process uses it. */
  of(process: SimulatedProcess): Disk {
    const open = new Map<number, File | undefined>();
    let descriptors = 2;
    const names = () => this.#names;
    const act = () => {
      if (!process.act()) {
        throw new Error("the process is dead");
      }
    };
    const find = (descriptor: number): File => {
      const file = open.get(descriptor);
      if (file === undefined) {
        throw fault("EBADF");
      }
      return file;
    };
    const write = (file: File, bytes: Uint8Array): number => {
      // A process may be killed when a part of its bytes is written.
      const taken = process.act() ? bytes.length : this.#dice.between(0, bytes.length);
      const fits = Math.min(taken, this.faults.room);
      file.append(bytes.subarray(0, fits));
      this.faults.room -= fits;
      if (!process.alive) {
        throw new Error("the process is dead");
      }
      if (fits === 0 && bytes.length > 0) {
        process.diskRefusedAt = this.#timeline.now;
        throw fault("ENOSPC");
      }
      return fits;
    };
    const sync = (file: File | undefined, length: number) => {
      if (this.faults.failsToSync) {
        process.diskRefusedAt = this.#timeline.now;
        throw fault("EIO");
      }
      if (this.faults.lies) {
        return;
      }
      if (file === undefined) {
        this.#durableNames = new Map(this.#names);
        return;
      }
      file.synced = Math.max(file.synced, Math.min(length, file.length));
      const path = [...this.#names].find(([, named]) => named === file)?.[0];
      if (path !== undefined && !this.#durableNames.has(path)) {
        this.#durableNames.set(path, file); // a new file's name is durable with it, as in real file systems
      }
    };
    return {
      openSync: (path, flags) => {
        act();
        const descriptor = ++descriptors;
        if (flags === "r") {
          open.set(descriptor, undefined);
          return descriptor;
        }
        const file = names().get(path) ?? this.#make(path);
        open.set(descriptor, file);
        return descriptor;
      },
      closeSync: (descriptor) => void open.delete(descriptor),
      writeSync: (descriptor, bytes, offset) => write(find(descriptor), bytes.subarray(offset)),
      fstatSync: (descriptor) => ({ size: find(descriptor).length }),
      ftruncateSync: (descriptor, length) => {
        act();
        const file = find(descriptor);
        this.faults.room += file.length - length;
        file.cut(length);
      },
      fsyncSync: (descriptor) => {
        act();
        const file = open.get(descriptor);
        sync(file, file?.length ?? 0);
      },
      fdatasync: (descriptor, done) => {
        if (!process.act()) {
          return;
        }
        const file = find(descriptor);
        const { length } = file;
        this.#timeline.after(syncMs, () => {
          let error: Error | null = null;
          try {
            sync(file, length);
          } catch (failed) {
            error = failed as Error;
          }
          process.reach(() => done(error));
        });
      },
      isInPlace: (path, descriptor) => names().get(path) === open.get(descriptor),
      endOfTurn: queueMicrotask,
      readFileSync: (path) => {
        const file = names().get(path);
        if (file === undefined) {
          throw fault("ENOENT");
        }
        return file.content;
      },
      renameSync: (from, to) => {
        act();
        const file = names().get(from);
        if (file === undefined) {
          throw fault("ENOENT");
        }
        names().delete(from);
        names().set(to, file);
      },
      mkdirSync: () => {},
      keepFilePrivate: (path) => {
        if (!names().has(path)) {
          this.#make(path);
        }
      },
      lockFile: (path) => {
        const holder = this.#locks.get(path);
        if (holder?.alive && holder !== process) {
          return undefined;
        }
        this.#locks.set(path, process);
        return () => void this.#locks.delete(path);
      },
      lockInstance: (path) => `${this.#machine}, boot ${this.#boots}: ${dirname(path)}`,
    };
  }
}

function fault(code: "ENOSPC" | "ENOENT" | "EIO" | "EBADF"): Error {
  return Object.assign(new Error(code), { code });
}
