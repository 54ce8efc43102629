/** Slots of a set that is still empty; always a power of two. */
const firstSlots = 1024;

/**
 * A set of digests in 16 to 32 bytes each, for millions of keys. It keeps the first 64 bits of each: that another secret's
 * digest begins with the same ones happens once in 2^64 tries a key, and costs a look into the database.
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

  /** Where a mark is, or the free slot for it. */
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

/** The first 64 bits of a digest; 0 means a free slot, so no mark is 0. */
function readMark(digest: Uint8Array): bigint {
  const mark = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0, true);
  return mark === 0n ? 1n : mark;
}
