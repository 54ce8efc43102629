import { BlockTable, high, low, none, own } from "./block-table.ts";

const firstCapacity = 256;

// What is kept of a block beside its hash: its characters, which are whole numbers as tokens are not, its last use, the next older and the next newer block.
const weight = own;
const used = own + 1;
const older = own + 2;
const newer = own + 3;
const stride = own + 5; // one more than needed: eight numbers are half a line of the CPU's cache

/** Is called with the halves of a block's hash when the server has lost the block. */
export type OnLost = (high: number, low: number) => void;

/**
 * The blocks of prompts that one server is believed to have in its cache, in the order of their last use. When they have
 * more characters than the cache holds, the least recently used are lost, as in the server (LRU). Of bounded size.
 */
export class CachedBlocks {
  readonly #most: number;
  readonly #onLost: OnLost;
  /** Counts uses and wraps around; the sign of a difference tells which of two blocks was used later. */
  #uses = 0;
  #characters = 0;
  #oldest = none;
  #newest = none;
  readonly #table = new BlockTable(stride, firstCapacity);

  /** Holds `most` blocks at most. */
  constructor(most: number, onLost: OnLost) {
    this.#most = most;
    this.#onLost = onLost;
  }

  /** Characters of all blocks. */
  get characters(): number {
    return this.#characters;
  }

  /** Notes the use of a block. Returns its use before this one. Undefined: the block was not there. */
  use(blockHigh: number, blockLow: number, characters: number): number | undefined {
    let before: number | undefined;
    let at = this.#table.find(blockHigh, blockLow);
    if (at === none) {
      at = this.#insert(blockHigh, blockLow);
    } else {
      before = this.#table.places[at + used];
      this.#unlink(at);
      this.#characters -= this.#table.places[at + weight] as number;
    }
    const places = this.#table.places;
    this.#uses = (this.#uses + 1) | 0;
    this.#characters += characters;
    places[at + weight] = characters;
    places[at + used] = this.#uses;
    places[at + older] = this.#newest;
    places[at + newer] = none;
    if (this.#newest === none) {
      this.#oldest = at;
    } else {
      places[this.#newest + newer] = at;
    }
    this.#newest = at;
    return before;
  }

  /** Loses the least recently used blocks until at most so many characters are left. */
  bound(characters: number): void {
    while (this.#characters > characters && this.#oldest !== none) {
      this.#lose(this.#oldest);
    }
  }

  /** Loses a block, if it is there. */
  drop(blockHigh: number, blockLow: number): void {
    const at = this.#table.find(blockHigh, blockLow);
    if (at !== none) {
      this.#lose(at);
    }
  }

  /** Loses every block that was last used at that use or before. */
  loseUntil(usedAt: number): void {
    while (this.#oldest !== none && (((this.#table.places[this.#oldest + used] as number) - usedAt) | 0) <= 0) {
      this.#lose(this.#oldest);
    }
  }

  #insert(blockHigh: number, blockLow: number): number {
    if (this.#table.size >= this.#most) {
      this.#lose(this.#oldest);
    }
    return this.#table.insert(blockHigh, blockLow);
  }

  #lose(at: number): void {
    const places = this.#table.places;
    this.#unlink(at);
    this.#table.remove(at);
    this.#characters -= places[at + weight] as number;
    this.#onLost(places[at + high] as number, places[at + low] as number);
  }

  #unlink(at: number): void {
    const places = this.#table.places;
    const [before, after] = [places[at + older] as number, places[at + newer] as number];
    if (before === none) {
      this.#oldest = after;
    } else {
      places[before + newer] = after;
    }
    if (after === none) {
      this.#newest = before;
    } else {
      places[after + older] = before;
    }
  }
}
