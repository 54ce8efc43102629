import type { ServerResponse } from "node:http";
import { watchEnd } from "#lib/net/send-whole.ts";
import type { UnreadAnswer, UnreadAnswers } from "#lib/net/unread-answers.ts";

/** Longer chunks are written in pieces of this many bytes, so that the client's progress can be seen. */
const pieceBytes = 64 * 1024;
/** Milliseconds after which a client that takes nothing is given up. */
const patienceMs = 60_000;

/** Passes the chunks of an answer on, and watches the client until it has all. `owner` returns the answer's payer. */
export async function* watchReading(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  owner: () => string,
  unread: UnreadAnswers,
): AsyncGenerator<Uint8Array> {
  let chunkOnItsWay: WaitingChunk | undefined;
  response.once("close", () => chunkOnItsWay && unread.delete(chunkOnItsWay));
  for await (const chunk of body) {
    const waiting = new WaitingChunk(owner(), chunk.length, response);
    chunkOnItsWay = waiting;
    unread.add(waiting);
    try {
      for (; waiting.taken < chunk.length; waiting.taken += pieceBytes) {
        yield chunk.subarray(waiting.taken, waiting.taken + pieceBytes);
      }
    } finally {
      unread.delete(waiting);
    }
  }
  setImmediate(() => watchEnd(response, owner, unread));
}

class WaitingChunk implements UnreadAnswer {
  taken = 0;
  readonly owner: string;
  readonly bytes: number;
  readonly #response: ServerResponse;
  #seen = 0;
  #seenAt = 0;

  constructor(owner: string, bytes: number, response: ServerResponse) {
    this.owner = owner;
    this.bytes = bytes;
    this.#response = response;
  }

  isLate(ageMs: number): boolean {
    if (this.taken > this.#seen) {
      this.#seen = this.taken;
      this.#seenAt = ageMs;
    }
    return ageMs - this.#seenAt >= patienceMs;
  }

  giveUp(): void {
    this.#response.destroy();
  }
}
