import { type BigIntStats, statSync } from "node:fs";

/** How often the files are checked even if nothing is written: admissions from memory end this soon. */
const lookMs = 500;
/** The files of an open database. The log and its index are created with the first statement. */
const endings = ["", ".lock", "-wal", "-shm"] as const;

/** A file on a disk, whatever its name: its device and inode. */
type Identity = Pick<BigIntStats, "dev" | "ino">;

/** The open files of a database, by their paths. Passed to other threads. */
export type KnownFiles = Map<string, Identity>;

/**
 * Checks whether a database is still in the files that were opened. The system goes on writing to a file that was
 * deleted or replaced, and everything written is gone when the process ends, while a backup and a second process use
 * other files.
 */
export class OpenedFiles {
  readonly #path: string;
  readonly #known: KnownFiles;
  #lost: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `known`: the files that another thread has open. Absent: the files that are there now. */
  constructor(path: string, known: KnownFiles = new Map()) {
    this.#path = path;
    this.#known = new Map(known);
    this.look();
  }

  get known(): KnownFiles {
    return this.#known;
  }

  /** The file that was moved, replaced or deleted, at the last check. Undefined: none was, or all are back. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Checks at an interval. Returns the function that ends it. */
  watch(): () => void {
    this.#timer = setInterval(() => this.look(), lookMs);
    this.#timer.unref();
    return () => clearInterval(this.#timer);
  }

  /** Checks each file, which takes some microseconds. One that cannot be looked at is not where others would find it. */
  look(): void {
    this.#lost = endings
      .map((ending) => this.#path + ending)
      .find((path) => {
        try {
          return !this.#isInPlace(path);
        } catch {
          return true;
        }
      });
  }

  /** Throws, as for a server that is away, when a file is not where it was opened: what was written may be gone. */
  check(): void {
    this.look();
    if (this.#lost !== undefined) {
      throw Object.assign(new Error(describeLost(this.#lost)), { code: "ESTALE" });
    }
  }

  #isInPlace(path: string): boolean {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    const known = this.#known.get(path);
    if (known === undefined) {
      if (found !== undefined) {
        this.#known.set(path, { dev: found.dev, ino: found.ino });
      }
      return true;
    }
    return found?.dev === known.dev && found.ino === known.ino;
  }
}

/** The message about a file that is not in its place, for logs and callers. */
export const describeLost = (path: string): string =>
  `${path} was moved, replaced or deleted while it was open: put it back, or start tollgate again with the file that is to count`;
