const none = Buffer.alloc(0);
/** Less memory is not worth the call that gives it back. */
const leastFreed = 4096;

/** The bytes of a body in one piece. Many small chunks take no more room than a few large ones. */
export class BodyBuffer {
  /** The number of bytes. */
  size = 0;
  #bytes: Buffer = none;

  /** The buffer's size after this many bytes are added. */
  roomFor(bytes: number): number {
    const size = this.size + bytes;
    if (size <= this.#bytes.length) {
      return this.#bytes.length;
    }
    return this.size === 0 ? bytes : Math.max(size, this.#bytes.length * 2);
  }

  /**
   * Adds a chunk, which nobody else may use from then on. The first chunk is used as it is, so that a body in one piece is
   * never copied.
   */
  add(chunk: Buffer): void {
    const room = this.roomFor(chunk.length);
    if (this.size === 0) {
      this.#bytes = chunk;
    } else {
      if (room > this.#bytes.length) {
        const larger = Buffer.allocUnsafeSlow(room);
        larger.set(this.bytes);
        this.#release();
        this.#bytes = larger;
      }
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
    this.size = 0;
  }

  #release(): void {
    const { buffer, length } = this.#bytes;
    if (length >= leastFreed && length === buffer.byteLength && buffer instanceof ArrayBuffer) {
      buffer.transfer(0);
    }
  }
}
