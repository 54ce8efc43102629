import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Random } from "#lib/ids/random.ts";
import type { NewFile, WrittenFile } from "./place.ts";

/** A file of a folder, which gets its name once it is complete and on the disk. */
export class ArchiveFile implements NewFile {
  readonly #path: string;
  /**
   * Its name until it is complete. It is unique, because two cores may write the same archive for a moment, when the
   * work goes over.
   */
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  #bytes = 0;

  private constructor(path: string, part: string, file: FileHandle) {
    this.#path = path;
    this.#part = part;
    this.#file = file;
  }

  /** Creates the folder, too, if it does not exist. */
  static async create(directory: string, name: string, random: Pick<Random, "uuid">): Promise<ArchiveFile> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, name);
    const part = `${path}.${random.uuid()}.part`;
    return new ArchiveFile(path, part, await open(part, "wx", 0o600));
  }

  /** Throws what the disk threw. */
  async write(content: Buffer): Promise<void> {
    this.#bytes += content.length;
    this.#hash.update(content);
    await this.#file.writeFile(content);
  }

  async finish(): Promise<WrittenFile> {
    await this.#file.sync();
    await this.#file.close();
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

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {}); // closed already, if its end failed
    await rm(this.#part, { force: true });
  }
}
