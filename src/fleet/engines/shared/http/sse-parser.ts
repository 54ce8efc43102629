import { engineFailed } from "../faults.ts";
import { LineSplitter, longestLine } from "./line-splitter.ts";

const colon = 0x3a;
const space = 0x20;

/**
 * Parses server-sent events from a socket's pieces. Only `data` is used. Comments, which some engines send to keep the
 * connection open, and the other fields are skipped. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class SseParser {
  readonly #onData: (data: string) => void;
  readonly #longest: number;
  readonly #lines: LineSplitter;
  #data: string | undefined;

  /** `longest` bounds a line in bytes, and an event in characters. */
  constructor(onData: (data: string) => void, longest = longestLine) {
    this.#onData = onData;
    this.#longest = longest;
    this.#lines = new LineSplitter((bytes, start, end) => this.#line(bytes, start, end), longest);
  }

  /** Takes the next piece, which may end anywhere. Throws ENGINE_FAILED when a line or an event exceeds the bound. */
  push(piece: Buffer): void {
    this.#lines.push(piece);
  }

  /** The stream is over. A last event counts even without its closing blank line. */
  end(): void {
    this.#lines.end();
    this.#dispatch();
  }

  #line(bytes: Buffer, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
    } else if (isData(bytes, start, end)) {
      this.#addData(bytes, start, end);
    }
  }

  #addData(bytes: Buffer, start: number, end: number): void {
    const from = bytes[start + 5] === space ? start + 6 : start + 5;
    const text = bytes.toString("utf8", from, end);
    this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
    if (this.#data.length > this.#longest) {
      throw engineFailed("an event of the stream is too long", true);
    }
  }

  #dispatch(): void {
    const data = this.#data;
    if (data === undefined) {
      return;
    }
    this.#data = undefined;
    this.#onData(data);
  }
}

/** Whether a line is `data:…`. Compares bytes, because this runs for every token. */
function isData(bytes: Buffer, start: number, end: number): boolean {
  return (
    end - start >= 5 &&
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    bytes[start + 4] === colon
  );
}
