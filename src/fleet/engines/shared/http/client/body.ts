import type { Framing } from "./head.ts";
import { malformed } from "./interface.ts";

/** Finds the pieces and the end of one body. */
export interface BodyReader {
  readonly done: boolean;
  /** Takes the body's bytes from a position and returns the position after them. Throws a fault. */
  push(bytes: Buffer, from: number, onData: (piece: Buffer) => void): number;
  /** Whether the body may end with the connection. */
  readonly endsWithConnection: boolean;
}

/** Creates the reader for a framing. */
export function createBodyReader(framing: Framing): BodyReader {
  switch (framing.kind) {
    case "length":
      return new CountedBody(framing.bytes);
    case "chunked":
      return new ChunkedBody();
    case "close":
      return new CountedBody(Number.POSITIVE_INFINITY);
  }
}

/** A body of known length, or one that ends with the connection. */
class CountedBody implements BodyReader {
  readonly endsWithConnection: boolean;
  #left: number;

  constructor(length: number) {
    this.#left = length;
    this.endsWithConnection = length === Number.POSITIVE_INFINITY;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  push(bytes: Buffer, from: number, onData: (piece: Buffer) => void): number {
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    onData(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    return end;
  }
}

const lf = 0x0a;
const cr = 0x0d;
const semicolon = 0x3b;
/** The most digits of a chunk's size: sizes below 2^48. */
const mostDigits = 12;
/** The most bytes of a chunk's extension, and of all trailer lines. */
const mostAside = 16 * 1024;

type ChunkState = "size" | "extension" | "sizeEnd" | "data" | "dataReturn" | "dataEnd" | "trailer" | "trailerEnd";

/** A body in chunks. Source: RFC 9112, section 7.1. */
class ChunkedBody implements BodyReader {
  readonly endsWithConnection = false;
  done = false;
  #state: ChunkState = "size";
  #digits = 0;
  /** Bytes left of the chunk. */
  #size = 0;
  #aside = 0;
  /** Bytes of the current trailer line so far. */
  #lineLength = 0;

  push(bytes: Buffer, from: number, onData: (piece: Buffer) => void): number {
    let at = from;
    while (at < bytes.length && !this.done) {
      if (this.#state === "data") {
        const end = Math.min(bytes.length, at + this.#size);
        this.#size -= end - at;
        this.#state = this.#size === 0 ? "dataReturn" : "data";
        onData(bytes.subarray(at, end));
        at = end;
      } else if (this.#state === "size" && this.#digits === 0) {
        at = this.#takeChunk(bytes, at, onData);
      } else {
        this.#take(bytes[at++] ?? 0);
      }
    }
    return at;
  }

  /**
   * Takes a chunk in one step where it lies there completely, as nearly all do. Otherwise takes one byte of its size.
   */
  #takeChunk(bytes: Buffer, from: number, onData: (piece: Buffer) => void): number {
    let at = from;
    let size = 0;
    for (let digit = hexDigit(bytes[at] ?? 0); digit >= 0 && at - from < mostDigits; digit = hexDigit(bytes[at] ?? 0)) {
      size = size * 16 + digit;
      at++;
    }
    const start = at + 2;
    const end = start + size;
    if (size > 0 && end + 2 <= bytes.length && isLineEnd(bytes, at) && isLineEnd(bytes, end)) {
      onData(bytes.subarray(start, end));
      return end + 2;
    }
    this.#take(bytes[from] ?? 0);
    return from + 1;
  }

  #take(byte: number): void {
    switch (this.#state) {
      case "size":
        this.#takeSize(byte);
        break;
      case "extension":
        this.#skip(byte, "sizeEnd");
        break;
      case "sizeEnd":
        this.#expect(byte, lf, this.#size === 0 ? "trailer" : "data");
        this.#digits = 0;
        break;
      case "dataReturn":
        this.#expect(byte, cr, "dataEnd");
        break;
      case "dataEnd":
        this.#expect(byte, lf, "size");
        break;
      case "trailerEnd":
        this.#expect(byte, lf, "trailer");
        this.done = this.#lineLength === 0;
        this.#lineLength = 0;
        break;
      default:
        this.#lineLength += byte === cr ? 0 : 1;
        this.#skip(byte, "trailerEnd");
    }
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      this.#digits++;
      if (this.#digits > mostDigits) {
        throw malformed("a chunk is too long");
      }
    } else if (this.#digits > 0 && (byte === cr || byte === semicolon)) {
      this.#state = byte === cr ? "sizeEnd" : "extension";
    } else {
      throw malformed("a chunk has no size");
    }
  }

  /** Skips the rest of a line. */
  #skip(byte: number, next: ChunkState): void {
    this.#aside++;
    if (byte === cr) {
      this.#state = next;
    } else if (byte === lf || this.#aside > mostAside) {
      throw malformed("a line beside its chunks cannot be read");
    }
  }

  #expect(byte: number, expected: number, next: ChunkState): void {
    if (byte !== expected) {
      throw malformed("a chunk does not end where it said");
    }
    this.#state = next;
  }
}

function isLineEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === cr && bytes[at + 1] === lf;
}

/** The digit's value. -1: the byte is not a hexadecimal digit. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) {
    return byte - 0x30;
  }
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
