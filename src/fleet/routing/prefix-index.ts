import type { PromptBlocks } from "./prompt-blocks.ts";

/** Blocks that share a bucket; the one that was used longest ago makes room. */
const ways = 8;

/**
 * Which servers have read which beginnings of prompts. Of fixed size, in flat arrays: a bucket of a few
 * blocks each, in which the least recently used one is overwritten, which comes near to an LRU list.
 */
export class PrefixIndex {
  readonly #words: number;
  readonly #bucketMask: number;
  readonly #tags: Uint32Array;
  readonly #usedAt: Uint32Array;
  /** A bit a server, `words` numbers a block. */
  readonly #holders: Uint32Array;
  #clock = 0;

  /** Takes room for some blocks, rounded up to a power of two, and servers numbered from 0. */
  constructor(blocks: number, servers: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(1, blocks / ways)));
    this.#words = Math.ceil(servers / 32);
    this.#bucketMask = buckets - 1;
    this.#tags = new Uint32Array(buckets * ways);
    this.#usedAt = new Uint32Array(buckets * ways);
    this.#holders = new Uint32Array(buckets * ways * this.#words);
  }

  /** Bytes that it occupies, always. */
  get bytes(): number {
    return this.#tags.byteLength + this.#usedAt.byteLength + this.#holders.byteLength;
  }

  /** Writes, for each server, how many characters of the prompt's beginning it has read. */
  match(blocks: PromptBlocks, matched: Uint32Array): void {
    matched.fill(0);
    const alive = new Uint32Array(this.#words).fill(0xffffffff);
    for (let block = 0; block < blocks.count; block++) {
      const slot = this.#find(blocks, block);
      if (slot === -1) return;
      const end = blocks.ends[block] ?? 0;
      let any = 0;
      for (let word = 0; word < this.#words; word++) {
        const held = (alive[word] ?? 0) & (this.#holders[slot * this.#words + word] ?? 0);
        alive[word] = held;
        any |= held;
        for (let rest = held; rest !== 0; rest &= rest - 1) {
          matched[word * 32 + 31 - Math.clz32(rest & -rest)] = end;
        }
      }
      if (any === 0) return;
    }
  }

  /** Notes that a server reads a prompt. */
  add(blocks: PromptBlocks, server: number): void {
    this.#clock++;
    const bit = 1 << (server % 32);
    const word = Math.floor(server / 32);
    for (let block = 0; block < blocks.count; block++) {
      const found = this.#find(blocks, block);
      const slot = found === -1 ? this.#claim(blocks, block) : found;
      this.#usedAt[slot] = this.#clock;
      const at = slot * this.#words + word;
      this.#holders[at] = (this.#holders[at] ?? 0) | bit;
    }
  }

  /** A server has nothing in its cache any more. */
  forget(server: number): void {
    const keep = ~(1 << (server % 32));
    for (let at = Math.floor(server / 32); at < this.#holders.length; at += this.#words) {
      this.#holders[at] = (this.#holders[at] ?? 0) & keep;
    }
  }

  #find(blocks: PromptBlocks, block: number): number {
    const first = this.#bucket(blocks, block);
    const tag = blocks.hashes[2 * block + 1];
    for (let slot = first; slot < first + ways; slot++) if (this.#tags[slot] === tag) return slot;
    return -1;
  }

  #claim(blocks: PromptBlocks, block: number): number {
    const first = this.#bucket(blocks, block);
    let oldest = first;
    for (let slot = first + 1; slot < first + ways; slot++) {
      if ((this.#usedAt[slot] ?? 0) < (this.#usedAt[oldest] ?? 0)) oldest = slot;
    }
    this.#tags[oldest] = blocks.hashes[2 * block + 1] ?? 0;
    this.#holders.fill(0, oldest * this.#words, (oldest + 1) * this.#words);
    return oldest;
  }

  #bucket(blocks: PromptBlocks, block: number): number {
    return ((blocks.hashes[2 * block] ?? 0) & this.#bucketMask) * ways;
  }
}
