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
  /** The first free place; free places are linked like those of a chain. */
  #free = none;
  /** The first place of each chain of blocks whose hashes end alike. */
  #chains = new Int32Array(1).fill(none);

  /** Has `stride` numbers for each block, and room for `first` blocks to begin with, a power of two. */
  constructor(stride: number, first: number) {
    this.#stride = stride;
    this.#first = first;
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
    if (this.#free === none) {
      this.#grow();
    }
    const places = this.places;
    const at = this.#free;
    const chain = blockLow & (this.#chains.length - 1);
    this.#free = places[at + chained] as number;
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

  /** Removes every block, and gives the memory back. */
  clear(): void {
    this.size = 0;
    this.#free = none;
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
    for (let at = before; at < places.length; at += stride) {
      places[at + chained] = this.#free;
      this.#free = at;
    }
  }
}
