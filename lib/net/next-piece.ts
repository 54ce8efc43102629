import type { Readable } from "node:stream";

/** Bodies of no more bytes need no pieces. */
export const smallBody = 64 * 1024;

/**
 * Has the next piece of a large body come in a later turn of the event loop, so that what others send comes between: Node.js would
 * read 2 MiB of each connection in one turn. `isOver`: nobody reads the body any more.
 */
export function nextPiece(body: Pick<Readable, "pause" | "resume">, isOver: () => boolean): void {
  body.pause();
  setImmediate(() => {
    if (!isOver()) {
      body.resume();
    }
  });
}
