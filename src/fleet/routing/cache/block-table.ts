/** Stands in place of a block's place where there is none. */
export const none = -1;

// What the table has of each block: both halves of its hash, and the next place of its chain.
export const high = 0;
export const low = 1;
const chained = 2;
/** The first of the numbers that its owner keeps of a block. */
export const own = 3;

/**
 * Blocks by their hashes: a hash table with chains whose numbers lie together in one array, so that a lookup reads no object
 * and a large table costs the garbage collector nothing. It doubles when it is full. A place is where a block's numbers begin
 * in `places`, and stays the block's until it is removed.
 */
export class BlockTable {
  /** The numbers of all places, `stride` for each; another array after an insertion that made the table grow. */
  places = new Int32Array(0);
  /** Blocks in it. */
  size = 0;
  readonly #stride: number;
  readonly #first: number;
  /** The first place that was given back; such are linked like those of a chain. */
  #free = none;
  /** The first place that was never used, after which none was. */
  #unused = 0;
  /** The first place of each chain of blocks whose hashes end alike. */
  #chains = new Int32Array(1).fill(none);

  /** Has `stride` numbers for each block, and room for `first` blocks to begin with, a power of two. */
  constructor(stride: number, first: number) {
    this.#stride = stride;
    this.#first = first;
  }

  /** Blocks that there is room for. */
  get capacity(): number {
    return this.places.length / this.#stride;
  }

  /** The place of a block. None: it is not there. */
  find(blockHigh: number, blockLow: number): number {
    const places = this.places;
    let at = this.#chains[blockLow & (this.#chains.length - 1)] as number;
    while (at !== none && (places[at + low] !== blockLow || places[at + high] !== blockHigh)) {
      at = places[at + chained] as number;
    }
    return at;
  }

  /** Adds a block that is not there and returns its place. The owner's numbers are those of a block before it. */
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

  /** Removes the block at a place. The numbers stay there until the place is used again. */
  remove(at: number): void {
    const places = this.places;
    this.#unchain(at);
    places[at + chained] = this.#free;
    this.#free = at;
    this.size--;
  }

  /** Calls with the place and the hash of each block. */
  forEach(call: (at: number, blockHigh: number, blockLow: number) => void): void {
    const places = this.places;
    for (let at of this.#chains) {
      for (; at !== none; at = places[at + chained] as number) {
        call(at, places[at + high] as number, places[at + low] as number);
      }
    }
  }

  /** Removes every block, and gives the memory back. */
  clear(): void {
    this.size = 0;
    this.#free = none;
    this.#unused = 0;
    this.#chains = new Int32Array(1).fill(none);
    this.places = new Int32Array(0);
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

  /** A place that is free. Those that were never used are taken in order, and so are memory only from then on. */
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
