const LF = 0x0a;
const CR = 0x0d;

/** No engine sends a longer line; a server that never ends one must not fill the memory. */
const longestLine = 16 * 1024 * 1024;

/**
 * Cuts the pieces that a socket brings into lines. Works on bytes, so that a piece may end within a
 * character. A line is given as a range of the bytes, without its line end, and is not kept.
 */
export class LineSplitter {
  readonly #onLine: (bytes: Buffer, start: number, end: number) => void;
  #rest: Buffer | undefined;

  constructor(onLine: (bytes: Buffer, start: number, end: number) => void) {
    this.#onLine = onLine;
  }

  /** Takes the next piece. Throws when a line passes all bounds. */
  push(piece: Buffer): void {
    const bytes = this.#rest === undefined ? piece : Buffer.concat([this.#rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#onLine(bytes, start, end > start && bytes[end - 1] === CR ? end - 1 : end);
      start = end + 1;
    }
    this.#rest = start < bytes.length ? bytes.subarray(start) : undefined;
    if (bytes.length - start > longestLine) throw new Error("a line of the stream is too long");
  }

  /** Takes what is left as the last line. */
  end(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) this.#onLine(rest, 0, rest.length);
  }
}
