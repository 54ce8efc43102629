import type { ServerResponse } from "node:http";

/*
 * Wrong: Node.js writes a chunk of a body in four pieces (its length, a line end, the text, a line end), which it gathers until the
 * next tick. A chunk of an event's size costs 12 µs that way, the system call included, and 9 µs as one text.
 * Upstream: Node.js 22 to 26 (`write_` in lib/_http_outgoing.js).
 * Still needed while test/facades/http/workarounds/framed-chunks.test.ts sees several pieces of a chunk on the socket.
 * Delete when a text leaves as one piece.
 */

/** The body of a response whose head is written and names no length. Everything after the head is written through here. */
export class FramedChunks {
  readonly #response: ServerResponse;
  /** HTTP/1.0 knows no chunks: there the end of the connection is the end of the body. */
  readonly #hasChunks: boolean;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#hasChunks = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** Writes a chunk; an empty text is none. False: the client reads slower than we write. */
  write(text: string): boolean {
    if (text === "") {
      return !this.#response.writableNeedDrain;
    }
    return this.#response.write(this.#hasChunks ? `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n` : text);
  }

  /** The body is whole. */
  end(): void {
    this.#response.end(this.#hasChunks ? "0\r\n\r\n" : undefined);
  }
}
