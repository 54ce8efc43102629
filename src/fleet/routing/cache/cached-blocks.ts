import type { BlocksOfText } from "../prompt-blocks.ts";
import { BlockTable, high, low, none, own } from "./block-table.ts";

const firstCapacity = 256;

// A block's numbers beside its hash: its characters, its last use, its
// parent (the block before it in its prompts), the number of its children, and its older and newer neighbours in the
// list. Characters are counted because they are whole numbers, which estimated tokens are not.
const weight = own;
const used = own + 1;
const parent = own + 2;
const children = own + 3;
const older = own + 4;
const newer = own + 5;
const stride = own + 6;

/** Marks, in the number of the older neighbour, a block that is not in the list. */
const unlisted = -2;

/**
 * Counts the uses of blocks and wraps around: the sign of a difference tells which of two uses was later. Caches that
 * share one counter can be compared.
 */
export interface UseCount {
  uses: number;
}

/** Is called with the halves of a block's hash. */
export type OnBlock = (high: number, low: number) => void;

/** Called with the blocks that a server has gained, and with those that it has lost. */
export interface OnChange {
  readonly gained: OnBlock;
  readonly lost: OnBlock;
}

/**
 * The blocks of prompts that one server is believed to have in its cache. When their characters exceed the cache's
 * size, the least recently used blocks are lost, as in the server (LRU). Of bounded size.
 *
 * A block's hash covers all blocks before it, so that blocks form a tree. A prompt's use is noted on all its blocks,
 * the first one last. The least recently used block is therefore always a leaf: the list has only leaves, by their last
 * use. When a leaf is lost, its parent takes its place in the list, unless the parent was used later. Using a known
 * prompt costs one lookup and a walk along blocks that lie together in memory.
 */
export class CachedBlocks {
  readonly #most: number;
  readonly #onChange: OnChange;
  readonly #count: UseCount;
  #hasLost = false;
  #characters = 0;
  #oldest = none;
  #newest = none;
  readonly #table = new BlockTable(stride, firstCapacity);

  /** Holds at most `most` blocks. */
  constructor(most: number, onChange: OnChange, count: UseCount = { uses: 0 }) {
    this.#most = most;
    this.#onChange = onChange;
    this.#count = count;
  }

  /** Characters of all blocks. */
  get characters(): number {
    return this.#characters;
  }

  /** The last use of a block. Undefined: the block is not in the cache. */
  lastUse(blockHigh: number, blockLow: number): number | undefined {
    const at = this.#table.find(blockHigh, blockLow);
    return at === none ? undefined : this.#table.places[at + used];
  }

  /** How many uses ago the next block to be lost was used. Infinity: nothing was lost so far, since there is room. */
  get age(): number {
    const at = this.#oldest;
    return this.#hasLost && at !== none
      ? (this.#count.uses - (this.#table.places[at + used] as number)) | 0
      : Number.POSITIVE_INFINITY;
  }

  /** Marks a prompt's blocks as used. */
  use(prompt: BlocksOfText): void {
    const { hashes, count } = prompt;
    let known = count;
    let end = none;
    while (known > 0 && end === none) {
      end = this.#table.find(hashes[2 * known - 2] as number, hashes[2 * known - 1] as number);
      known -= end === none ? 1 : 0;
    }
    this.#count.uses = (this.#count.uses + count) | 0;
    this.#touch(end, known);
    const last = this.#extend(prompt, end, known);
    if (last !== none) {
      this.#list(last, this.#newest, none);
    }
  }

  /** Loses the least recently used blocks until at most this many characters are left. */
  bound(characters: number): void {
    while (this.#characters > characters && this.#oldest !== none) {
      this.#lose(this.#oldest);
    }
  }

  /** Loses every block whose last use is not later than `usedAt`. */
  loseUntil(usedAt: number): void {
    while (this.#oldest !== none && (((this.#table.places[this.#oldest + used] as number) - usedAt) | 0) <= 0) {
      this.#lose(this.#oldest);
    }
  }

  /**
   * Marks the known blocks of a prompt as used, from the last one back, and takes those that are in the list out of it.
   */
  #touch(end: number, known: number): void {
    const { uses } = this.#count;
    const places = this.#table.places;
    let at = end;
    for (let block = known - 1; block >= 0 && at !== none; block--) {
      if (places[at + older] !== unlisted) {
        this.#unlist(at);
      }
      places[at + used] = (uses - block) | 0;
      at = places[at + parent] as number;
    }
  }

  /**
   * Adds a prompt's blocks after its known ones, as far as there is room. Returns the last block that is in the cache.
   */
  #extend({ hashes, ends, count }: BlocksOfText, end: number, known: number): number {
    const { uses } = this.#count;
    let last = end;
    for (let block = known; block < count; block++) {
      this.#addChildren(last, 1); // so that it is not lost when room is made
      if (this.#table.size >= this.#most && this.#oldest !== none) {
        this.#lose(this.#oldest);
      }
      if (this.#table.size >= this.#most) {
        this.#addChildren(last, -1);
        return last;
      }
      const at = this.#table.insert(hashes[2 * block] as number, hashes[2 * block + 1] as number);
      const places = this.#table.places;
      this.#weigh(at, ends, block);
      places[at + used] = (uses - block) | 0;
      places[at + parent] = last;
      places[at + children] = 0;
      places[at + older] = unlisted;
      last = at;
    }
    return last;
  }

  #weigh(at: number, ends: Int32Array, block: number): void {
    const characters = (ends[block] as number) - (block === 0 ? 0 : (ends[block - 1] as number));
    const places = this.#table.places;
    places[at + weight] = characters;
    this.#characters += characters;
    this.#onChange.gained(places[at + high] as number, places[at + low] as number);
  }

  #addChildren(at: number, count: number): void {
    if (at !== none) {
      const places = this.#table.places;
      places[at + children] = (places[at + children] as number) + count;
    }
  }

  /** Loses a leaf. Its parent takes its place in the list, unless the parent was used later. */
  #lose(at: number): void {
    const places = this.#table.places;
    const [before, after] = [places[at + older] as number, places[at + newer] as number];
    this.#unlist(at);
    if (places[at + children] !== 0) {
      return;
    }
    this.#hasLost = true;
    this.#characters -= places[at + weight] as number;
    this.#onChange.lost(places[at + high] as number, places[at + low] as number);
    this.#table.remove(at);
    const up = places[at + parent] as number;
    if (up === none) {
      return;
    }
    this.#addChildren(up, -1);
    const isOfSameUse = (((places[up + used] as number) - (places[at + used] as number)) | 0) === 1;
    if (places[up + older] === unlisted && (isOfSameUse || places[up + children] === 0)) {
      this.#list(up, before, after);
    }
  }

  /** Inserts a block into the list between two neighbours. */
  #list(at: number, before: number, after: number): void {
    const places = this.#table.places;
    places[at + older] = before;
    places[at + newer] = after;
    this.#link(before, at);
    this.#link(at, after);
  }

  #unlist(at: number): void {
    const places = this.#table.places;
    const [before, after] = [places[at + older] as number, places[at + newer] as number];
    this.#link(before, after);
    places[at + older] = unlisted;
  }

  /** Makes two blocks neighbours. Either may be `none`. */
  #link(before: number, after: number): void {
    const places = this.#table.places;
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
