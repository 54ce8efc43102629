import type { Gpu } from "./gpu.ts";
import { blockSize, KvCache } from "./kv-cache.ts";
import type { Sequence } from "./sequence.ts";

/** KV memory, given to sequences block by block. */
export class SequenceMemory {
  readonly cache: KvCache;
  readonly #keepsPrefixes: boolean;

  constructor({ kvTokens, prefixCache }: Gpu) {
    this.cache = new KvCache(Math.floor(kvTokens / blockSize));
    this.#keepsPrefixes = prefixCache;
  }

  /**
   * Gives a sequence the cached blocks of its beginning. Returns false, and gives none, when the rest would not fit.
   */
  admit(sequence: Sequence): boolean {
    const { blocks } = sequence;
    if (this.#keepsPrefixes) {
      // The last token is always computed, because the next one follows from it.
      const reusable = Math.floor((sequence.length - 1) / blockSize);
      while (blocks.length < reusable) {
        const block = this.cache.reuse(sequence.blockHash(blocks.length));
        if (block === undefined) {
          break;
        }
        blocks.push(block);
      }
    }
    if (Math.ceil(sequence.length / blockSize) - blocks.length > this.cache.available) {
      this.free(sequence);
      return false;
    }
    sequence.computed = blocks.length * blockSize;
    return true;
  }

  /** Gives a sequence blocks for a number of tokens. Returns false when there are too few. */
  grow({ blocks }: Sequence, tokens: number): boolean {
    while (blocks.length * blockSize < tokens) {
      const block = this.cache.take();
      if (block === undefined) {
        return false;
      }
      blocks.push(block);
    }
    return true;
  }

  /** Lets other sequences find the blocks that were filled after the first `from` tokens. */
  seal(sequence: Sequence, from: number): void {
    if (!this.#keepsPrefixes) {
      return;
    }
    const full = Math.floor(sequence.computed / blockSize);
    for (let index = Math.floor(from / blockSize); index < full; index++) {
      const block = sequence.blocks[index];
      if (block !== undefined) {
        this.cache.seal(block, sequence.blockHash(index));
      }
    }
  }

  /** Takes a sequence's blocks back. */
  free(sequence: Sequence): void {
    this.cache.release(sequence.blocks);
    sequence.blocks = [];
  }
}
