import { SeededRandom } from "../../seeded-random.ts";

const charactersPerToken = 4;
/** Numbers of blocks in one trace stay below this. */
const mostIds = 2 ** 22;

/** All prompts of a trace as one tree of blocks, with a text for each block, and where messages end. */
export class PromptTree {
  /** Tokens of a block. */
  readonly blockTokens: number;
  readonly #places = new Map<number, number>();
  readonly #ends = new Set<number>();
  #size = 0;
  readonly #noise: string;

  constructor(blockTokens: number) {
    this.blockTokens = blockTokens;
    const random = new SeededRandom(7);
    this.#noise = Buffer.from(random.bytes(1 << 18))
      .toString("latin1")
      .replace(/[^ -~]/g, "e");
  }

  /**
   * The places of a prompt's blocks. Below other roots, equal ids are other blocks, but for so many at the beginning, which are
   * the same below all of them. Where a prompt leaves the others, a message ends.
   */
  insert(ids: readonly number[], root = 0, shared = 0): Int32Array {
    const places = new Int32Array(ids.length);
    let before = 0;
    let isNew = false;
    for (const [at, id] of ids.entries()) {
      const parent = at === shared ? -root : before;
      const key = (parent + 2 ** 20) * mostIds + (at < shared ? at : id);
      let place = this.#places.get(key);
      if (place === undefined) {
        place = ++this.#size;
        this.#places.set(key, place);
        if (!isNew && at > 0) {
          this.#ends.add(before);
        }
        isNew = true;
      }
      places[at] = place;
      before = place;
    }
    if (ids.length > 0) {
      this.#ends.add(before);
    }
    return places;
  }

  /** The texts of a prompt's messages. Those that were made for an earlier prompt of the session are taken from there. */
  messages(blocks: Int32Array, promptTokens: number, made: Map<number, string>): string[] {
    const texts: string[] = [];
    for (let from = 0; from < blocks.length; ) {
      let to = from;
      while (to < blocks.length - 1 && !this.#ends.has(blocks[to] as number)) {
        to++;
      }
      const end = blocks[to] as number;
      const text = made.get(end) ?? this.#text(blocks, from, to + 1);
      made.set(end, text);
      texts.push(text);
      from = to + 1;
    }
    const rest = promptTokens - blocks.length * this.blockTokens;
    if (rest > 0) {
      texts.push(this.#slice(-promptTokens - (blocks.at(-1) ?? 0), rest));
    }
    return texts;
  }

  #text(blocks: Int32Array, from: number, to: number): string {
    const parts: string[] = [];
    for (let at = from; at < to; at++) {
      parts.push(this.#slice(blocks[at] as number, this.blockTokens));
    }
    return parts.join("");
  }

  #slice(place: number, tokens: number): string {
    const mixed = Math.imul(place, 0x9e3779b1) >>> 0;
    const start = mixed % (this.#noise.length - charactersPerToken * tokens);
    return this.#noise.slice(start, start + charactersPerToken * tokens);
  }
}
