import type { Readable } from "node:stream";

/** The bytes of a body that are read in a turn of the event loop. Smaller bodies know no turns. */
export const pieceBytes = 64 * 1024;

/**
 * The pieces of one large body, each in a turn of its own, so that what others send comes between: Node.js would read 2 MiB of each
 * connection in one turn.
 */
export class Pieces {
  #read = 0;

  /** So many bytes of the body have been read: after a piece of them it pauses until the next turn. `isOver`: nobody reads on. */
  took(bytes: number, body: Pick<Readable, "pause" | "resume">, isOver: () => boolean): void {
    this.#read += bytes;
    if (this.#read < pieceBytes) {
      return;
    }
    this.#read = 0;
    body.pause();
    setImmediate(() => {
      if (!isOver()) {
        body.resume();
      }
    });
  }
}
