import { v7 } from "uuid";

/** The random bytes that one identifier takes. */
const taken = 16;

/**
 * Makes UUIDv7s that sort by creation, even within one millisecond and when the clock goes back. Random bytes are
 * fetched for many identifiers at a time: one by one they are most of an identifier's cost.
 *
 * @param fill fills bytes with randomness that nobody can guess
 * @param now milliseconds since the Unix epoch
 */
export function uuidSource(fill: (bytes: Uint8Array) => void, now: () => number): () => string {
  const block = new Uint8Array(256 * taken);
  let at = block.length;
  let msecs = Number.NEGATIVE_INFINITY;
  let seq = 0;
  return () => {
    if (at === block.length) {
      fill(block);
      at = 0;
    }
    const random = block.subarray(at, at + taken);
    at += taken;
    const time = now();
    if (time > msecs) {
      msecs = time;
      // Random, with room to count up from. https://www.rfc-editor.org/rfc/rfc9562#section-6.2
      seq = ((random[6] ?? 0) << 23) | ((random[7] ?? 0) << 15) | ((random[8] ?? 0) << 7) | ((random[9] ?? 0) >>> 1);
    } else {
      seq++;
    }
    return v7({ random, msecs, seq });
  };
}
