import { BlockTable, none, own } from "./cache/block-table.ts";
import { type BlocksOfText, maxBlocks } from "./prompt-blocks.ts";

/** Servers whose bits make one number. */
const bitsOfWord = 32;

/** The most blocks that there is room for before there are any; it doubles from there on. */
const mostAtFirst = 65_536;

/**
 * Knows which servers have which beginnings of prompts in their caches: of each block the set of its servers, a bit for each.
 * It has what the caches of the servers gain and lose, and so is as large as they are together.
 *
 * Whoever has a block has those before it, so that the sets get smaller along a prompt, and all blocks between two of the same
 * set have that set, too. A prompt is matched by halves, beginning with its first and its last block: where the same servers
 * have both, or none has any, these two are all that is looked for, and of a hundred blocks about ten where one more ends between.
 */
export class PrefixIndex {
  readonly #first: number;
  /** Numbers of 32 bits in a set of servers. */
  #words: number;
  #table: BlockTable;
  /** The sets of the prompt that is matched, by how many blocks are before; those alone are right that were looked for. */
  #sets: Int32Array;

  /** Has room for about `blocks` blocks to begin with, and for servers numbered from 0. */
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

  /** Makes room for so many servers; what is known stays. */
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

  /** A server has a block. */
  gain(high: number, low: number, server: number): void {
    let at = this.#table.find(high, low);
    if (at === none) {
      at = this.#insert(high, low);
    }
    const word = at + own + Math.floor(server / bitsOfWord);
    this.#table.places[word] = (this.#table.places[word] as number) | (1 << (server % bitsOfWord));
  }

  /** A server has a block no longer. */
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

  /** Reads the set of the last one of so many blocks. */
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

  /** Writes a value for each server of one set that is not in another; of -1, all that are in the first. */
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
