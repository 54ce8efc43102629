import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Random } from "#lib/ids/random.ts";

/** A file as it is on the disk. */
export interface WrittenFile {
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string;
}

/**
 * A compressed file of lines. It gets its name once it is complete and on the disk, replacing a file of the same name.
 */
export class ArchiveFile {
  readonly #path: string;
  /**
   * Its name until it is complete. It is unique, because two cores may write the same archive for a moment, when the
   * work goes over.
   */
  readonly #part: string;
  readonly #gzip = createGzip();
  readonly #hash = createHash("sha256");
  readonly #done: Promise<void>;
  #bytes = 0;

  private constructor(path: string, random: Pick<Random, "uuid">) {
    this.#path = path;
    this.#part = `${path}.${random.uuid()}.part`;
    const measure = new Transform({
      transform: (chunk: Buffer, _, pass) => {
        this.#bytes += chunk.length;
        this.#hash.update(chunk);
        pass(null, chunk);
      },
    });
    const file = createWriteStream(this.#part, { mode: 0o600, flush: true });
    this.#done = pipeline(this.#gzip, measure, file);
    this.#done.catch(() => {}); // the next write, or finish, throws the error
  }

  /** Creates the folder, too, if it does not exist. */
  static async create(directory: string, name: string, random: Pick<Random, "uuid">): Promise<ArchiveFile> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return new ArchiveFile(join(directory, name), random);
  }

  /** Resolves when more can be written. Throws what the disk threw. */
  async write(text: string): Promise<void> {
    if (!this.#gzip.write(text)) {
      await Promise.race([once(this.#gzip, "drain"), this.#done]);
    }
  }

  async finish(): Promise<WrittenFile> {
    this.#gzip.end();
    await this.#done;
    await rename(this.#part, this.#path);
    await this.#removeParts();
    const directory = await open(dirname(this.#path), "r");
    await directory.sync(); // so that a power cut does not take the name back
    await directory.close();
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }

  /**
   * Removes unfinished files of the same archive, such as those of a process that was killed. A core that still writes
   * one fails.
   */
  async #removeParts(): Promise<void> {
    const directory = dirname(this.#path);
    const begun = `${basename(this.#path)}.`;
    for (const name of await readdir(directory)) {
      if (name.startsWith(begun) && name.endsWith(".part")) {
        await rm(join(directory, name), { force: true });
      }
    }
  }

  /** Gives it up: nothing of it stays. */
  async abandon(): Promise<void> {
    this.#gzip.destroy();
    await this.#done.catch(() => {});
    await rm(this.#part, { force: true });
  }
}
