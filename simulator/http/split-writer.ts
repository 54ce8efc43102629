import type { ServerResponse } from "node:http";

/**
 * Writes a response in pieces of this many bytes, each in an event-loop turn of its own, so that characters and events
 * are split.
 */
export class SplitWriter {
  readonly #response: ServerResponse;
  readonly #size: number;
  #queue: Buffer[] = [];
  #ending = false;
  #busy = false;

  constructor(response: ServerResponse, size: number) {
    this.#response = response;
    this.#size = Math.max(1, size);
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += this.#size) {
      this.#queue.push(bytes.subarray(at, at + this.#size));
    }
    if (!this.#busy) {
      this.#next();
    }
  }

  end(text: string): void {
    this.#ending = true;
    this.write(text);
  }

  #next(): void {
    const piece = this.#queue.shift();
    this.#busy = piece !== undefined;
    if (piece === undefined) {
      if (this.#ending) {
        this.#response.end();
      }
      return;
    }
    this.#response.write(piece);
    setImmediate(() => this.#next());
  }
}
