import { BoundedMap } from "#lib/overload/bounded-map.ts";
import type { OpenFile } from "./place.ts";

/** What is read at once: a bucket takes some milliseconds for each question, however little it is asked for. */
const pageBytes = 256 * 1024;
/** The pages that are kept, so that a question takes so much memory however large the file is. */
const mostPages = 8;

/**
 * A file of a known length that is read in pages, the last of which are kept: what is searched in an index lies together,
 * and blocks are read one after the other.
 */
export class FilePages implements OpenFile {
  readonly #file: OpenFile;
  readonly #bytes: number;
  /** The least recently read are forgotten first. */
  readonly #pages = new BoundedMap<number, Buffer>(mostPages);

  constructor(file: OpenFile, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  async read(position: number, length: number): Promise<Buffer> {
    const end = position + length;
    const parts: Buffer[] = [];
    for (let at = position; at < end; ) {
      const number = Math.floor(at / pageBytes);
      const start = number * pageBytes;
      const part = (await this.#page(number)).subarray(at - start, end - start);
      parts.push(part);
      at = start + pageBytes;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #page(number: number): Promise<Buffer> {
    const start = number * pageBytes;
    const page = this.#pages.get(number) ?? (await this.#file.read(start, Math.min(pageBytes, this.#bytes - start)));
    this.#pages.set(number, page);
    return page;
  }
}
