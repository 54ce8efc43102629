import { type BlocksOfText, maxBlocks, type PromptBlocks } from "./prompt-blocks.ts";

/** Blocks that share a bucket; the least recently used makes room. */
const ways = 8;

// A bucket's numbers lie together, since reading distant memory costs more than everything that is done with them: first the
// tag of each block, then its last use, then who holds it, in a word of bits for every 32 servers. These are the distances
// from a block's tag to its other numbers:
const usedAt = ways;
const holders = 2 * ways;

/**
 * Knows which servers have read which beginnings of prompts. One flat array of fixed size holds buckets of a few blocks each;
 * in a full bucket the least recently used block is overwritten, which comes near to an LRU list.
 */
export class PrefixIndex {
  readonly #buckets: number;
  /** Numbers of a bucket. */
  #stride: number;
  #table: Int32Array;
  /** While a prompt is matched: the servers that have read all blocks so far. */
  #alive: Int32Array;
  /** The places of the blocks that were found of the prompt matched last, and their number. */
  readonly #found = new Int32Array(maxBlocks);
  #known = 0;
  #clock = 0;
  /** What was read ahead: it has no use but that it is read. */
  ahead = 0;

  /** Has room for `blocks` blocks, rounded up to a power of two, and for servers numbered from 0. */
  constructor(blocks: number, servers: number) {
    this.#buckets = 2 ** Math.ceil(Math.log2(Math.max(1, blocks / ways)));
    this.#alive = new Int32Array(wordsFor(servers));
    this.#stride = holders + ways * this.#alive.length;
    this.#table = new Int32Array(this.#buckets * this.#stride);
  }

  /** Bytes that it occupies. */
  get bytes(): number {
    return this.#table.byteLength;
  }

  /** Makes room for so many servers; what is known stays. */
  widen(servers: number): void {
    if (wordsFor(servers) <= this.#alive.length) {
      return;
    }
    const [table, stride] = [this.#table, this.#stride];
    this.#alive = new Int32Array(wordsFor(servers));
    this.#stride = holders + ways * this.#alive.length;
    this.#table = new Int32Array(this.#buckets * this.#stride);
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      this.#table.set(table.subarray(bucket * stride, (bucket + 1) * stride), bucket * this.#stride);
    }
  }

  /** Writes, for each server, how many characters of the prompt's beginning it has read. Comes before `add`. */
  match(blocks: PromptBlocks, matched: Int32Array): void {
    this.#readAhead(blocks);
    const [table, alive] = [this.#table, this.#alive];
    const words = alive.length;
    matched.fill(0);
    alive.fill(-1);
    let end = 0;
    this.#known = 0;
    for (let block = 0; block < blocks.count; block++) {
      const at = this.#find(blocks.hashes, block);
      if (at === -1) {
        break;
      }
      this.#found[this.#known++] = at;
      let any = 0;
      for (let word = 0; word < words; word++) {
        const before = alive[word] as number;
        const held = before & (table[at + holders + word * ways] as number);
        if (held !== before) {
          assign(matched, word, before & ~held, end);
          alive[word] = held;
        }
        any |= held;
      }
      if (any === 0) {
        return;
      }
      end = blocks.ends[block] as number;
    }
    for (let word = 0; word < words; word++) {
      assign(matched, word, alive[word] as number, end);
    }
  }

  /**
   * Reads something of each block's bucket. The buckets lie far apart, and the processor fetches them side by side here, as
   * it does not where it has to know what is in one before it goes to the next.
   */
  #readAhead({ hashes, count }: PromptBlocks): void {
    const table = this.#table;
    let ahead = 0;
    for (let block = 0; block < count; block++) {
      const first = this.#bucket(hashes, block);
      ahead ^= (table[first] as number) ^ (table[first + holders] as number);
    }
    this.ahead = ahead;
  }

  /** Notes that a server reads the prompt matched last. */
  add({ hashes, count }: PromptBlocks, server: number): void {
    this.#note(hashes, 0, count, this.#known, server);
  }

  /** Notes that a server reads a prompt of which only the blocks' hashes are known, from one of its blocks on. */
  addHashes({ hashes, count }: BlocksOfText, from: number, server: number): void {
    this.#note(hashes, from, count, 0, server);
  }

  #note(hashes: Int32Array, from: number, count: number, known: number, server: number): void {
    this.#clock = (this.#clock + 1) | 0;
    const table = this.#table;
    const bit = 1 << (server % 32);
    const held = holders + Math.floor(server / 32) * ways;
    for (let block = from; block < count; block++) {
      const at = block < known ? (this.#found[block] as number) : this.#findOrClaim(hashes, block);
      table[at + usedAt] = this.#clock;
      table[at + held] = (table[at + held] as number) | bit;
    }
  }

  /** A server has lost a block. */
  lose(high: number, low: number, server: number): void {
    const at = this.#findIn((high & (this.#buckets - 1)) * this.#stride, low);
    if (at !== -1) {
      const held = at + holders + Math.floor(server / 32) * ways;
      this.#table[held] = (this.#table[held] as number) & ~(1 << (server % 32));
    }
  }

  /** A server has nothing in its cache any more. */
  forget(server: number): void {
    const table = this.#table;
    const keep = ~(1 << (server % 32));
    const held = holders + Math.floor(server / 32) * ways;
    for (let first = held; first < table.length; first += this.#stride) {
      for (let at = first; at < first + ways; at++) {
        table[at] = (table[at] as number) & keep;
      }
    }
  }

  /** The place of a block's tag. -1: the block is not known. */
  #find(hashes: Int32Array, block: number): number {
    return this.#findIn(this.#bucket(hashes, block), hashes[2 * block + 1] as number);
  }

  #findIn(first: number, tag: number): number {
    const table = this.#table;
    for (let at = first; at < first + ways; at++) {
      if (table[at] === tag) {
        return at;
      }
    }
    return -1;
  }

  #findOrClaim(hashes: Int32Array, block: number): number {
    const found = this.#find(hashes, block);
    return found === -1 ? this.#claim(hashes, block) : found;
  }

  #claim(hashes: Int32Array, block: number): number {
    const table = this.#table;
    const first = this.#bucket(hashes, block);
    let oldest = first;
    for (let at = first + 1; at < first + ways; at++) {
      if (this.#age(at) > this.#age(oldest)) {
        oldest = at;
      }
    }
    table[oldest] = hashes[2 * block + 1] as number;
    for (let at = oldest + holders; at < first + this.#stride; at += ways) {
      table[at] = 0;
    }
    return oldest;
  }

  /** Prompts since a block was used last; right across the clock's overflow. */
  #age(at: number): number {
    return (this.#clock - (this.#table[at + usedAt] as number)) >>> 0;
  }

  #bucket(hashes: Int32Array, block: number): number {
    return ((hashes[2 * block] as number) & (this.#buckets - 1)) * this.#stride;
  }
}

function wordsFor(servers: number): number {
  return Math.ceil(servers / 32);
}

/** Writes a value for each server whose bit is set. */
function assign(matched: Int32Array, word: number, bits: number, value: number): void {
  for (let rest = bits; rest !== 0; rest &= rest - 1) {
    matched[word * 32 + 31 - Math.clz32(rest & -rest)] = value;
  }
}
