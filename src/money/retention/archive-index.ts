import { type Block, entryBytes, hashOf, toIndex } from "./archive-format.ts";

/** Gathers the index of an archive while it is written. */
export class ArchiveIndex {
  readonly #blocks: Block[] = [];
  /** The entries of 256 parts of the hashes, so that none of them takes long to be sorted. */
  readonly #parts: Buffer[][] = Array.from({ length: 256 }, () => []);

  /** Adds a block that was written, and the requests in it. */
  add(block: Block, requestIds: readonly string[]): void {
    const number = this.#blocks.push(block) - 1;
    for (const requestId of requestIds) {
      const entry = Buffer.allocUnsafe(entryBytes);
      const hash = hashOf(requestId);
      hash.copy(entry);
      entry.writeUIntBE(number, 5, 3);
      this.#parts[hash[0] as number]?.push(entry);
    }
  }

  /** The end of the file, in parts. `start`: the length of the file until then. Calls `pace` between steps. */
  async *finish(start: number, pace: () => Promise<void>): AsyncGenerator<Buffer> {
    const sorted: Buffer[] = [];
    for (const part of this.#parts) {
      for (const entry of part.toSorted(Buffer.compare)) {
        sorted.push(entry);
      }
      if (part.length > 1000) {
        await pace();
      }
    }
    for (const member of toIndex(sorted, this.#blocks, start)) {
      yield member;
      await pace();
    }
  }
}
