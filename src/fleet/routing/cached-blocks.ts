const none = -1;
const firstCapacity = 256;

// A block's numbers lie together, since reading distant memory costs more than everything that is done with them: both halves
// of its hash, its tokens, its last use, the next place of its chain, the next older and the next newer block.
const high = 0;
const low = 1;
const weight = 2;
const used = 3;
const chained = 4;
const older = 5;
const newer = 6;
const stride = 8;

/** Is called with the halves of a block's hash when the server has lost the block. */
export type OnLost = (high: number, low: number) => void;

/**
 * The blocks of prompts that one server is believed to have in its cache, in the order of their last use. When they have
 * more tokens than the cache holds, the least recently used are lost, as in the server (LRU). Of bounded size.
 */
export class CachedBlocks {
  readonly #most: number;
  readonly #onLost: OnLost;
  /** Counts uses and wraps around; the sign of a difference tells which of two blocks was used later. */
  #uses = 0;
  #tokens = 0;
  #size = 0;
  #oldest = none;
  #newest = none;
  /** The first free place; free places are linked like those of a chain. */
  #free = none;
  /** The first place of each chain of blocks whose hashes end alike. */
  #chains = new Int32Array(1).fill(none);
  #places = new Int32Array(0);

  /** Holds `most` blocks at most. */
  constructor(most: number, onLost: OnLost) {
    this.#most = most;
    this.#onLost = onLost;
  }

  /** Tokens of all blocks. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Notes the use of a block. Returns its use before this one. Undefined: the block was not there. */
  use(blockHigh: number, blockLow: number, tokens: number): number | undefined {
    let before: number | undefined;
    let at = this.#find(blockHigh, blockLow);
    if (at === none) {
      at = this.#insert(blockHigh, blockLow);
    } else {
      before = this.#places[at + used];
      this.#unlink(at);
      this.#tokens -= this.#places[at + weight] as number;
    }
    const places = this.#places;
    this.#uses = (this.#uses + 1) | 0;
    this.#tokens += tokens;
    places[at + weight] = tokens;
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

  /** Loses the least recently used blocks until at most so many tokens are left. */
  bound(tokens: number): void {
    while (this.#tokens > tokens && this.#oldest !== none) {
      this.#lose(this.#oldest);
    }
  }

  /** Loses a block, if it is there. */
  drop(blockHigh: number, blockLow: number): void {
    const at = this.#find(blockHigh, blockLow);
    if (at !== none) {
      this.#lose(at);
    }
  }

  /** Loses every block that was last used at that use or before. */
  loseUntil(usedAt: number): void {
    while (this.#oldest !== none && (((this.#places[this.#oldest + used] as number) - usedAt) | 0) <= 0) {
      this.#lose(this.#oldest);
    }
  }

  #find(blockHigh: number, blockLow: number): number {
    const places = this.#places;
    let at = this.#chains[blockLow & (this.#chains.length - 1)] as number;
    while (at !== none && (places[at + low] !== blockLow || places[at + high] !== blockHigh)) {
      at = places[at + chained] as number;
    }
    return at;
  }

  #insert(blockHigh: number, blockLow: number): number {
    if (this.#size >= this.#most) {
      this.#lose(this.#oldest);
    }
    if (this.#free === none) {
      this.#grow();
    }
    const places = this.#places;
    const at = this.#free;
    const chain = blockLow & (this.#chains.length - 1);
    this.#free = places[at + chained] as number;
    places[at + high] = blockHigh;
    places[at + low] = blockLow;
    places[at + chained] = this.#chains[chain] as number;
    this.#chains[chain] = at;
    this.#size++;
    return at;
  }

  #lose(at: number): void {
    const places = this.#places;
    this.#unlink(at);
    this.#unchain(at);
    this.#tokens -= places[at + weight] as number;
    places[at + chained] = this.#free;
    this.#free = at;
    this.#size--;
    this.#onLost(places[at + high] as number, places[at + low] as number);
  }

  #unlink(at: number): void {
    const places = this.#places;
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

  #unchain(at: number): void {
    const places = this.#places;
    const chain = (places[at + low] as number) & (this.#chains.length - 1);
    const next = places[at + chained] as number;
    let before = this.#chains[chain] as number;
    if (before === at) {
      this.#chains[chain] = next;
      return;
    }
    while (places[before + chained] !== at) {
      before = places[before + chained] as number;
    }
    places[before + chained] = next;
  }

  #grow(): void {
    const before = this.#places.length / stride;
    const length = Math.max(firstCapacity, 2 * before);
    const places = new Int32Array(length * stride);
    places.set(this.#places);
    this.#places = places;
    this.#chains = new Int32Array(length).fill(none);
    for (let at = 0; at < before * stride; at += stride) {
      const chain = (places[at + low] as number) & (length - 1);
      places[at + chained] = this.#chains[chain] as number;
      this.#chains[chain] = at;
    }
    for (let at = before * stride; at < length * stride; at += stride) {
      places[at + chained] = this.#free;
      this.#free = at;
    }
  }
}
