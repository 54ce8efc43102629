/** A 64-bit number in two halves. */
export interface Halves {
  readonly high: number;
  readonly low: number;
}

/** The deepest nesting that is skipped. */
const deepest = 16;

/**
 * Reads MessagePack in place and skips unneeded values: most bytes of an event are token ids, which are never used.
 * Every method throws where the bytes do not have its type.
 */
export class Packed {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether the next value is nil. Skips it then. */
  passNil(): boolean {
    if (this.#bytes[this.#at] !== 0xc0) {
      return false;
    }
    this.#at++;
    return true;
  }

  /** Whether the next value is a map. */
  get isMap(): boolean {
    const type = this.#peek();
    return (type & 0xf0) === 0x80 || type === 0xde || type === 0xdf;
  }

  /** Begins an array and returns the number of its values, which follow. */
  array(): number {
    const type = this.#byte();
    if ((type & 0xf0) === 0x90) {
      return type & 0x0f;
    }
    return this.#count(type, 0xdc, "an array");
  }

  /** Begins a map and returns the number of its pairs, which follow. */
  map(): number {
    const type = this.#byte();
    if ((type & 0xf0) === 0x80) {
      return type & 0x0f;
    }
    return this.#count(type, 0xde, "a map");
  }

  text(): string {
    const type = this.#byte();
    const length =
      (type & 0xe0) === 0xa0 ? type & 0x1f : type >= 0xd9 && type <= 0xdb ? this.#uint(1 << (type - 0xd9)) : -1;
    if (length === -1) {
      throw unexpected("a text", type);
    }
    const start = this.#pass(length);
    return this.#bytes.toString("utf8", start, start + length);
  }

  /** Reads a whole number, 0 or more. */
  number(): number {
    const type = this.#byte();
    if (type < 0x80) {
      return type;
    }
    if (type >= 0xcc && type <= 0xcf) {
      return this.#uint(1 << (type - 0xcc));
    }
    throw unexpected("a number", type);
  }

  /** Reads a hash: a number of up to 64 bits, or bytes, of which the first eight count. */
  hash(): Halves {
    const type = this.#byte();
    if (type < 0x80) {
      return { high: 0, low: type };
    }
    if (type >= 0xe0) {
      return { high: -1, low: type - 0x100 };
    }
    if (type >= 0xc4 && type <= 0xc6) {
      const length = this.#uint(1 << (type - 0xc4));
      const start = this.#pass(length);
      const head = Buffer.alloc(8);
      this.#bytes.copy(head, 0, start, start + Math.min(8, length));
      return { high: head.readInt32BE(0), low: head.readInt32BE(4) };
    }
    const isSigned = type >= 0xd0 && type <= 0xd3;
    if (!isSigned && !(type >= 0xcc && type <= 0xcf)) {
      throw unexpected("a hash", type);
    }
    const width = 1 << (type & 3);
    const start = this.#pass(width);
    if (width === 8) {
      return { high: this.#bytes.readInt32BE(start), low: this.#bytes.readInt32BE(start + 4) };
    }
    const value = isSigned ? this.#bytes.readIntBE(start, width) : this.#bytes.readUIntBE(start, width);
    return { high: value < 0 ? -1 : 0, low: value | 0 };
  }

  /** Skips a value of any type. */
  skip(depth = 0): void {
    if (depth > deepest) {
      throw new Error("it is nested too deeply");
    }
    const type = this.#byte();
    if (type < 0x80 || type >= 0xe0 || (type >= 0xc0 && type <= 0xc3)) {
      return;
    }
    if (type < 0xa0) {
      this.#skipValues((type & 0x0f) * (type < 0x90 ? 2 : 1), depth);
    } else if (type < 0xc0) {
      this.#pass(type & 0x1f);
    } else if (type >= 0xdc) {
      this.#skipValues(this.#uint(type & 1 ? 4 : 2) * (type >= 0xde ? 2 : 1), depth);
    } else {
      this.#skipSized(type);
    }
  }

  #skipValues(count: number, depth: number): void {
    for (let at = 0; at < count; at++) {
      this.skip(depth + 1);
    }
  }

  #skipSized(type: number): void {
    if (type <= 0xc6) {
      this.#pass(this.#uint(1 << (type - 0xc4)));
    } else if (type <= 0xc9) {
      this.#pass(this.#uint(1 << (type - 0xc7)) + 1);
    } else if (type <= 0xcb) {
      this.#pass(type === 0xca ? 4 : 8);
    } else if (type <= 0xd3) {
      this.#pass(1 << (type & 3));
    } else if (type <= 0xd8) {
      this.#pass((1 << (type - 0xd4)) + 1);
    } else {
      this.#pass(this.#uint(1 << (type - 0xd9)));
    }
  }

  #count(type: number, short: number, what: string): number {
    if (type !== short && type !== short + 1) {
      throw unexpected(what, type);
    }
    return this.#uint(type === short ? 2 : 4);
  }

  #uint(width: number): number {
    const start = this.#pass(width);
    return width === 8 ? Number(this.#bytes.readBigUInt64BE(start)) : this.#bytes.readUIntBE(start, width);
  }

  #byte(): number {
    const type = this.#peek();
    this.#at++;
    return type;
  }

  #peek(): number {
    const type = this.#bytes[this.#at];
    if (type === undefined) {
      throw new Error("it ends too early");
    }
    return type;
  }

  /** Skips bytes and returns where they begin. */
  #pass(count: number): number {
    const start = this.#at;
    if (count > this.#bytes.length - start) {
      throw new Error("it ends too early");
    }
    this.#at += count;
    return start;
  }
}

function unexpected(what: string, type: number): Error {
  return new Error(`${what} was expected, not the type 0x${type.toString(16)}`);
}
