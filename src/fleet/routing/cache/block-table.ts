/** The place number that means "no place". */
export const none = -1;

// A block's numbers in the table: both halves of its hash, and the next place of its chain.
export const high = 0;
export const low = 1;
const chained = 2;
/** The first of the numbers that the table's owner keeps for a block. */
export const own = 3;

/**
 * A hash table of blocks. All numbers lie together in one array, so that a lookup reads no object and a large table
 * costs the garbage collector nothing. It doubles when it is full. A place is the position in `places` where a block's
 * numbers begin; the block keeps its place until it is removed.
 */
export class BlockTable {
  /** The numbers of all places, `stride` for each. Growing at an insertion replaces this array. */
  places = new Int32Array(0);
  /** The number of blocks. */
  size = 0;
  readonly #stride: number;
  readonly #first: number;
  /** The first freed place. Freed places are linked through their `chained` number. */
  #free = none;
  /** The first place that was never used; all later places are unused, too. */
  #unused = 0;
  /** The first place of each chain. A chain holds the blocks whose hashes have equal low bits. */
  #chains = new Int32Array(1).fill(none);

  /** Keeps `stride` numbers for each block. `first` is the initial capacity in blocks, a power of two. */
  constructor(stride: number, first: number) {
    this.#stride = stride;
    this.#first = first;
  }

  /** How many blocks fit before the table grows. */
  get capacity(): number {
    return this.places.length / this.#stride;
  }

  /** The place of a block. `none`: the block is not in the table. */
  find(blockHigh: number, blockLow: number): number {
    const places = this.places;
    let at = this.#chains[blockLow & (this.#chains.length - 1)] as number;
    while (at !== none && (places[at + low] !== blockLow || places[at + high] !== blockHigh)) {
      at = places[at + chained] as number;
    }
    return at;
  }

  /**
   * Inserts a block that is not in the table and returns its place. The owner must set its own numbers: they are those
   * of an earlier block.
   */
  insert(blockHigh: number, blockLow: number): number {
    const at = this.#take();
    const places = this.places;
    const chain = blockLow & (this.#chains.length - 1);
    places[at + high] = blockHigh;
    places[at + low] = blockLow;
    places[at + chained] = this.#chains[chain] as number;
    this.#chains[chain] = at;
    this.size++;
    return at;
  }

  /** Removes the block at a place. Its numbers stay readable until the place is reused. */
  remove(at: number): void {
    const places = this.places;
    this.#unchain(at);
    places[at + chained] = this.#free;
    this.#free = at;
    this.size--;
  }

  /** Calls `call` with the place and the hash of each block. */
  forEach(call: (at: number, blockHigh: number, blockLow: number) => void): void {
    const places = this.places;
    for (let at of this.#chains) {
      for (; at !== none; at = places[at + chained] as number) {
        call(at, places[at + high] as number, places[at + low] as number);
      }
    }
  }

  #unchain(at: number): void {
    const places = this.places;
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

  /** Takes a free place. Never used places are taken in order, so that they occupy memory only from then on. */
  #take(): number {
    const given = this.#free;
    if (given !== none) {
      this.#free = this.places[given + chained] as number;
      return given;
    }
    if (this.#unused === this.places.length) {
      this.#grow();
    }
    const at = this.#unused;
    this.#unused += this.#stride;
    return at;
  }

  /** Doubles a table that is full. */
  #grow(): void {
    const stride = this.#stride;
    const before = this.places.length;
    const count = Math.max(this.#first, (2 * before) / stride);
    const places = new Int32Array(count * stride);
    places.set(this.places);
    this.places = places;
    this.#chains = new Int32Array(count).fill(none);
    for (let at = 0; at < before; at += stride) {
      const chain = (places[at + low] as number) & (count - 1);
      places[at + chained] = this.#chains[chain] as number;
      this.#chains[chain] = at;
    }
  }
}
