import { maxBlocks, type PromptBlocks } from "./prompt-blocks.ts";

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
  /** Servers that have read all blocks so far, while a prompt is matched. */
  readonly #alive: Uint32Array;
  /** Where the first blocks of the prompt that was matched last are, and how many were found. */
  readonly #slots = new Uint32Array(maxBlocks);
  #known = 0;
  #clock = 0;

  /** Takes room for some blocks, rounded up to a power of two, and servers numbered from 0. */
  constructor(blocks: number, servers: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(1, blocks / ways)));
    this.#words = Math.ceil(servers / 32);
    this.#bucketMask = buckets - 1;
    this.#alive = new Uint32Array(this.#words);
    this.#tags = new Uint32Array(buckets * ways);
    this.#usedAt = new Uint32Array(buckets * ways);
    this.#holders = new Uint32Array(buckets * ways * this.#words);
  }

  /** Bytes that it occupies, always. */
  get bytes(): number {
    return this.#tags.byteLength + this.#usedAt.byteLength + this.#holders.byteLength;
  }

  /** Writes, for each server, how many characters of the prompt's beginning it has read. Comes before `add`. */
  match(blocks: PromptBlocks, matched: Uint32Array): void {
    matched.fill(0);
    const alive = this.#alive.fill(0xffffffff);
    let end = 0;
    this.#known = 0;
    for (let block = 0; block < blocks.count; block++) {
      const slot = this.#find(blocks, block);
      if (slot === -1) break;
      this.#slots[this.#known++] = slot;
      let any = 0;
      for (let word = 0; word < this.#words; word++) {
        const before = alive[word] ?? 0;
        const held = before & (this.#holders[slot * this.#words + word] ?? 0);
        if (held !== before) {
          assign(matched, word, before & ~held, end);
          alive[word] = held;
        }
        any |= held;
      }
      if (any === 0) return;
      end = blocks.ends[block] ?? 0;
    }
    for (let word = 0; word < this.#words; word++) assign(matched, word, alive[word] ?? 0, end);
  }

  /** Notes that a server reads the prompt that was matched last. */
  add(blocks: PromptBlocks, server: number): void {
    this.#clock++;
    const bit = 1 << (server % 32);
    const word = Math.floor(server / 32);
    for (let block = 0; block < blocks.count; block++) {
      const slot = block < this.#known ? (this.#slots[block] ?? 0) : this.#findOrClaim(blocks, block);
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

  #findOrClaim(blocks: PromptBlocks, block: number): number {
    const found = this.#find(blocks, block);
    return found === -1 ? this.#claim(blocks, block) : found;
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

/** Writes a value for each server whose bit is set. */
function assign(matched: Uint32Array, word: number, bits: number, value: number): void {
  for (let rest = bits; rest !== 0; rest &= rest - 1) matched[word * 32 + 31 - Math.clz32(rest & -rest)] = value;
}
