import { BlockTable, none, own } from "./cache/block-table.ts";
import { type BlocksOfText, maxBlocks } from "./prompt-blocks.ts";

/** Servers whose bits fit into one number. */
const bitsOfWord = 32;

/** The most blocks to reserve room for at the start. The room doubles from there on. */
const mostAtFirst = 65_536;

/**
 * Maps each block of a prompt to the set of servers that have it, with one bit for each server. It follows what the
 * servers' caches gain and lose, and so is as large as they are together.
 *
 * A server that has a block has all blocks before it. So the sets shrink along a prompt, and when two blocks have the
 * same set, all blocks between them have it, too. `match` bisects a prompt, starting from its first and last block.
 * Where both have the same servers, or none, it looks up only these two. Where servers' parts end in between, it looks
 * up about ten of a hundred blocks for each such end.
 */
export class PrefixIndex {
  readonly #first: number;
  /** The number of 32-bit words in a set of servers. */
  #words: number;
  #table: BlockTable;
  /** The sets of the prompt being matched, by the number of blocks up to there. Valid where they were looked up. */
  #sets: Int32Array;

  /** Reserves room for about `blocks` blocks. Servers are numbered from 0. */
  constructor(blocks: number, servers: number) {
    this.#first = 2 ** Math.ceil(Math.log2(Math.min(mostAtFirst, Math.max(1, blocks))));
    this.#words = wordsFor(servers);
    this.#table = new BlockTable(own + this.#words, this.#first);
    this.#sets = new Int32Array((maxBlocks + 1) * this.#words);
  }

  /** Blocks that some server has. */
  get size(): number {
    return this.#table.size;
  }

  /** Makes room for this many servers. What is known stays. */
  widen(servers: number): void {
    const [before, words] = [this.#table, this.#words];
    if (wordsFor(servers) <= words) {
      return;
    }
    this.#words = wordsFor(servers);
    this.#table = new BlockTable(own + this.#words, Math.max(this.#first, before.capacity));
    this.#sets = new Int32Array((maxBlocks + 1) * this.#words);
    before.forEach((at, high, low) => {
      const to = this.#insert(high, low) + own;
      this.#table.places.set(before.places.subarray(at + own, at + own + words), to);
    });
  }

  /** Records that a server has a block. */
  gain(high: number, low: number, server: number): void {
    let at = this.#table.find(high, low);
    if (at === none) {
      at = this.#insert(high, low);
    }
    const word = at + own + Math.floor(server / bitsOfWord);
    this.#table.places[word] = (this.#table.places[word] as number) | (1 << (server % bitsOfWord));
  }

  /** Records that a server no longer has a block. */
  lose(high: number, low: number, server: number): void {
    const at = this.#table.find(high, low);
    if (at === none) {
      return;
    }
    const { places } = this.#table;
    const word = at + own + Math.floor(server / bitsOfWord);
    places[word] = (places[word] as number) & ~(1 << (server % bitsOfWord));
    for (let other = at + own; other < at + own + this.#words; other++) {
      if (places[other] !== 0) {
        return;
      }
    }
    this.#table.remove(at);
  }

  /** Adds a block that no server has. */
  #insert(high: number, low: number): number {
    const at = this.#table.insert(high, low);
    for (let word = 0; word < this.#words; word++) {
      this.#table.places[at + own + word] = 0;
    }
    return at;
  }

  /** Writes, for each server, how many characters of the prompt's beginning it has. */
  match(blocks: BlocksOfText, matched: Int32Array): void {
    const { count, ends } = blocks;
    matched.fill(0);
    if (count > 0) {
      this.#look(blocks, count);
      this.#look(blocks, 1);
      this.#split(blocks, 1, count, matched);
      this.#assign(matched, count, -1, ends[count - 1] as number);
    }
  }

  /** Finds where between two blocks the set of servers changes. */
  #split(blocks: BlocksOfText, from: number, to: number, matched: Int32Array): void {
    if (this.#isSame(from, to)) {
      return;
    }
    if (to - from === 1) {
      this.#assign(matched, from, to, blocks.ends[from - 1] as number);
      return;
    }
    const middle = (from + to) >>> 1;
    this.#look(blocks, middle);
    this.#split(blocks, from, middle, matched);
    this.#split(blocks, middle, to, matched);
  }

  /** Looks up the set of the prompt's block number `count`, counted from 1. */
  #look({ hashes }: BlocksOfText, count: number): void {
    const [sets, words] = [this.#sets, this.#words];
    const at = this.#table.find(hashes[2 * count - 2] as number, hashes[2 * count - 1] as number);
    const { places } = this.#table;
    for (let word = 0; word < words; word++) {
      sets[count * words + word] = at === none ? 0 : (places[at + own + word] as number);
    }
  }

  #isSame(one: number, other: number): boolean {
    const [sets, words] = [this.#sets, this.#words];
    for (let word = 0; word < words; word++) {
      if (sets[one * words + word] !== sets[other * words + word]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes a value for each server in set `one` but not in set `other`. When `other` is -1, for all servers in `one`.
   */
  #assign(matched: Int32Array, one: number, other: number, value: number): void {
    const [sets, words] = [this.#sets, this.#words];
    for (let word = 0; word < words; word++) {
      const without = other === -1 ? 0 : (sets[other * words + word] as number);
      let rest = (sets[one * words + word] as number) & ~without;
      for (; rest !== 0; rest &= rest - 1) {
        matched[word * bitsOfWord + 31 - Math.clz32(rest & -rest)] = value;
      }
    }
  }
}

function wordsFor(servers: number): number {
  return Math.ceil(servers / bitsOfWord);
}
