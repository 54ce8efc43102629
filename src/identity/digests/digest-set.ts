/** The slots of an empty set. The number of slots is always a power of two. */
const firstSlots = 1024;

/**
 * A set of digests for millions of keys, in 16 to 32 bytes each. It keeps the first 64 bits of each digest. Another
 * secret's digest begins with the same bits once in 2^64 tries for each key, which costs one database query.
 */
export class DigestSet {
  #slots = new BigUint64Array(firstSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(digest: Uint8Array): boolean {
    const mark = readMark(digest);
    return this.#slots[this.#find(mark)] === mark;
  }

  add(digest: Uint8Array): void {
    const mark = readMark(digest);
    const at = this.#find(mark);
    if (this.#slots[at] === mark) {
      return;
    }
    this.#slots[at] = mark;
    this.#size += 1;
    if (this.#size * 2 > this.#slots.length) {
      this.#grow();
    }
  }

  /** The slot of a mark, or the free slot for it. */
  #find(mark: bigint): number {
    const last = this.#slots.length - 1;
    let at = Number(mark & BigInt(last));
    while (this.#slots[at] !== 0n && this.#slots[at] !== mark) {
      at = (at + 1) & last;
    }
    return at;
  }

  #grow(): void {
    const marks = this.#slots;
    this.#slots = new BigUint64Array(marks.length * 2);
    for (const mark of marks) {
      if (mark !== 0n) {
        this.#slots[this.#find(mark)] = mark;
      }
    }
  }
}

/** The first 64 bits of a digest. 0 means a free slot, so no mark is 0. */
function readMark(digest: Uint8Array): bigint {
  const mark = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0, true);
  return mark === 0n ? 1n : mark;
}
