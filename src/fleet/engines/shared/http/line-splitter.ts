import { engineFailed } from "../faults.ts";

const lf = 0x0a;
const cr = 0x0d;

/** The most bytes of a line, unless the request makes its answer's lines longer. */
export const longestLine = 1024 * 1024;

/**
 * Splits a socket's pieces into lines. Works on bytes, so that a piece may end within a character. A line is passed as
 * a range of bytes, without its line end, and is not kept. Every byte is looked at once and copied at most twice,
 * however small the pieces are.
 */
export class LineSplitter {
  readonly #onLine: (bytes: Buffer, start: number, end: number) => void;
  readonly #longest: number;
  /** The pieces of an incomplete line. */
  #rest: Buffer[] = [];
  #restLength = 0;

  constructor(onLine: (bytes: Buffer, start: number, end: number) => void, longest = longestLine) {
    this.#onLine = onLine;
    this.#longest = longest;
  }

  /** Takes the next piece. Throws ENGINE_FAILED when a line passes the bound. */
  push(piece: Buffer): void {
    let start = 0;
    for (let end = piece.indexOf(lf); end !== -1; end = piece.indexOf(lf, start)) {
      this.#check(end - start);
      if (this.#restLength === 0) {
        this.#emit(piece, start, end);
      } else {
        this.#emitRest(piece.subarray(start, end));
      }
      start = end + 1;
    }
    if (start === piece.length) {
      return;
    }
    this.#check(piece.length - start);
    this.#rest.push(Buffer.from(piece.subarray(start))); // the socket reuses these bytes
    this.#restLength += piece.length - start;
  }

  /** Takes the rest as the last line. */
  end(): void {
    if (this.#restLength > 0) {
      this.#emitRest(Buffer.alloc(0));
    }
  }

  #emitRest(last: Buffer): void {
    const line = Buffer.concat([...this.#rest, last], this.#restLength + last.length);
    this.#rest = [];
    this.#restLength = 0;
    this.#emit(line, 0, line.length);
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    this.#onLine(bytes, start, end > start && bytes[end - 1] === cr ? end - 1 : end);
  }

  #check(more: number): void {
    if (this.#restLength + more > this.#longest) {
      throw engineFailed("a line of the stream is too long", true);
    }
  }
}
