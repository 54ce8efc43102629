const none = Buffer.alloc(0);

/** The bytes of a body in one piece. Many small chunks take no more room than a few large ones. */
export class BodyBuffer {
  /** The number of bytes. */
  size = 0;
  #bytes: Buffer = none;
  /** Whether nobody else has the memory of them. */
  #isOwn = false;

  /** The buffer's size after this many bytes are added. */
  roomFor(bytes: number): number {
    const size = this.size + bytes;
    if (size <= this.#bytes.length) {
      return this.#bytes.length;
    }
    return this.size === 0 ? bytes : Math.max(size, this.#bytes.length * 2);
  }

  /** Adds a chunk. `isWhole`: it is all of the body, which is then never copied. */
  add(chunk: Buffer, isWhole: boolean): void {
    if (isWhole) {
      this.#bytes = chunk;
    } else {
      this.#grow(this.roomFor(chunk.length));
      this.#bytes.set(chunk, this.size);
    }
    this.size += chunk.length;
  }

  /** The bytes so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.size);
  }

  /** Gives their memory back at once. Bodies that never end are many and old: a collection comes to them only much later. */
  free(): void {
    this.#release();
    this.#bytes = none;
    this.#isOwn = false;
    this.size = 0;
  }

  #grow(room: number): void {
    if (room > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(room);
      larger.set(this.bytes);
      this.#release();
      this.#bytes = larger;
      this.#isOwn = true;
    }
  }

  #release(): void {
    if (this.#isOwn) {
      (this.#bytes.buffer as ArrayBuffer).transfer(0);
    }
  }
}
