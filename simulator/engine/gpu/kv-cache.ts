/** Tokens that one block of the KV cache holds. */
export const blockSize = 16;

/** A block of KV memory. A block with a hash can serve any sequence with the same prefix. */
export interface Block {
  hash: number | undefined;
  users: number;
}

/**
 * The KV memory of a GPU: a fixed number of blocks. Each is free, in use, or idle with reusable content. When a new
 * block is needed, the least recently used idle content is dropped.
 */
export class KvCache {
  readonly total: number;
  #blank: number;
  readonly #known = new Map<number, Block>();
  readonly #idle = new Map<number, Block>();

  constructor(total: number) {
    this.total = total;
    this.#blank = total;
  }

  /** Blocks that no sequence uses. */
  get available(): number {
    return this.#blank + this.#idle.size;
  }

  /** The part of the memory that sequences use, 0 to 1. */
  get usage(): number {
    return 1 - this.available / this.total;
  }

  /** Takes the block with this content into use. Undefined: no block has it. */
  reuse(hash: number): Block | undefined {
    const block = this.#known.get(hash);
    if (block === undefined) {
      return undefined;
    }
    if (block.users++ === 0) {
      this.#idle.delete(hash);
    }
    return block;
  }

  /** Takes an empty block into use. Undefined: all memory is in use. */
  take(): Block | undefined {
    if (this.#blank > 0) {
      this.#blank--;
      return { hash: undefined, users: 1 };
    }
    for (const [hash, block] of this.#idle) {
      this.#idle.delete(hash);
      this.#known.delete(hash);
      block.hash = undefined;
      block.users = 1;
      return block;
    }
    return undefined;
  }

  /** Marks a block as full and names its content, so that others can reuse it. */
  seal(block: Block, hash: number): void {
    if (block.hash !== undefined || this.#known.has(hash)) {
      return;
    }
    block.hash = hash;
    this.#known.set(hash, block);
  }

  /** Releases a sequence's blocks. Their content stays until the memory is needed. */
  release(blocks: readonly Block[]): void {
    // Last block first: the end of a prefix is less useful to others than its beginning.
    for (let at = blocks.length - 1; at >= 0; at--) {
      const block = blocks[at];
      if (block === undefined || --block.users > 0) {
        continue;
      }
      if (block.hash === undefined) {
        this.#blank++;
      } else {
        this.#idle.set(block.hash, block);
      }
    }
  }
}
