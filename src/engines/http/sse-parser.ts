const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;

/** No engine sends a longer line; a server that never ends one must not fill the memory. */
const longestLine = 16 * 1024 * 1024;

/**
 * Reads server-sent events out of the pieces that a socket brings. Works on bytes, so that a piece may
 * end within a character, a line or an event. Only `data` is of interest to us: comments, which some
 * engines send to keep the connection open, and the other fields are skipped.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class SseParser {
  readonly #onData: (data: string) => void;
  #rest: Buffer | undefined;
  #data: string | undefined;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  /** Takes the next piece. Throws when a line passes all bounds. */
  push(piece: Buffer): void {
    const bytes = this.#rest === undefined ? piece : Buffer.concat([this.#rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#line(bytes, start, end > start && bytes[end - 1] === CR ? end - 1 : end);
      start = end + 1;
    }
    this.#rest = start < bytes.length ? bytes.subarray(start) : undefined;
    if (bytes.length - start > longestLine) throw new Error("an event of the stream is too long");
  }

  /** The stream is over: an event that lacks its closing blank line counts all the same. */
  end(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) this.#line(rest, 0, rest.length);
    this.#dispatch();
  }

  #line(bytes: Buffer, start: number, end: number): void {
    if (start === end) this.#dispatch();
    else if (isData(bytes, start, end)) this.#addData(bytes, start, end);
  }

  #addData(bytes: Buffer, start: number, end: number): void {
    const from = bytes[start + 5] === SPACE ? start + 6 : start + 5;
    const text = bytes.toString("utf8", from, end);
    this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
  }

  #dispatch(): void {
    const data = this.#data;
    if (data === undefined) return;
    this.#data = undefined;
    this.#onData(data);
  }
}

/** Whether a line is `data:…`; compared by byte because it is asked for every token. */
function isData(bytes: Buffer, start: number, end: number): boolean {
  return (
    end - start >= 5 &&
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    bytes[start + 4] === COLON
  );
}
