import { type BodyReader, createBodyReader } from "./body.ts";
import type { Head, HeadReader } from "./head.ts";
import { malformed } from "./interface.ts";

const headEnd = Buffer.from("\r\n\r\n");
/** The most bytes of a head, as in Node's own client. */
const mostHeadBytes = 16 * 1024;
/** The most informational answers before the final one. */
const mostInformational = 16;

/** Receives the parts of one answer. */
export interface ResponseSink {
  onHead(head: Head): void;
  onData(piece: Buffer): void;
}

/** Parses one answer from a socket's pieces. */
export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #heads: HeadReader;
  readonly #onData: (piece: Buffer) => void;
  #body: BodyReader | undefined;
  /** The beginning of an incomplete head. */
  #rest: Buffer | undefined;
  #informational = 0;

  constructor(sink: ResponseSink, heads: HeadReader) {
    this.#sink = sink;
    this.#heads = heads;
    this.#onData = (piece) => sink.onData(piece);
  }

  /** Whether the answer is complete. */
  get done(): boolean {
    return this.#body?.done === true;
  }

  /** Takes the next piece. Throws a fault when it is not HTTP, or goes on after the answer's end. */
  push(piece: Buffer): void {
    let bytes = piece;
    let at = 0;
    while (this.#body === undefined) {
      if (this.#rest !== undefined) {
        bytes = Buffer.concat([this.#rest, bytes]);
        this.#rest = undefined;
      }
      const end = bytes.indexOf(headEnd, at);
      if ((end === -1 ? bytes.length : end) - at > mostHeadBytes) {
        throw malformed("its head is too long");
      }
      if (end === -1) {
        this.#rest = Buffer.from(bytes.subarray(at));
        return;
      }
      this.#readHead(bytes.toString("latin1", at, end));
      at = end + headEnd.length;
    }
    if (at < bytes.length && !this.#body.done) {
      at = this.#body.push(bytes, at, this.#onData);
    }
    if (at < bytes.length) {
      throw malformed("it goes on behind its end");
    }
  }

  /** The connection has ended. Returns whether the answer is complete. */
  end(): boolean {
    return this.#body !== undefined && (this.#body.done || this.#body.endsWithConnection);
  }

  #readHead(text: string): void {
    const head = this.#heads.read(text);
    if (head.status >= 200) {
      this.#body = createBodyReader(head.framing);
      this.#sink.onHead(head);
      return;
    }
    this.#informational++;
    if (head.status === 101 || this.#informational > mostInformational) {
      throw malformed("it changes the protocol or never begins");
    }
  }
}
