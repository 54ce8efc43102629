import { charactersPerToken } from "#lib/text/estimate-tokens.ts";
import type { BlocksOfText } from "../prompt-blocks.ts";
import { CachedBlocks, type OnChange, type UseCount } from "./cached-blocks.ts";

/** The beginnings of prompts that one server is believed to have in its cache. */
export class ServerCache {
  readonly #believed: CachedBlocks;

  /** Remembers at most `most` blocks of text. */
  constructor(most: number, onChange: OnChange, count?: UseCount) {
    this.#believed = new CachedBlocks(most, onChange, count);
  }

  /** How many uses ago the next block to be lost was used. Infinity: there is room. */
  get age(): number {
    return this.#believed.age;
  }

  /**
   * The last use of the prompt's block that ends at this many characters. Undefined: no block ends there, or it is not
   * in the cache.
   */
  lastUseOf({ hashes, ends, count }: BlocksOfText, characters: number): number | undefined {
    let block = characters === 0 ? -1 : count - 1;
    while (block >= 0 && ends[block] !== characters) {
      block--;
    }
    return block < 0 ? undefined : this.#believed.lastUse(hashes[2 * block] as number, hashes[2 * block + 1] as number);
  }

  /** Marks a prompt's blocks as used. The first block is marked last, so that it is lost last. */
  use(prompt: BlocksOfText): void {
    this.#believed.use(prompt);
  }

  clear(): void {
    this.#believed.bound(0);
  }

  /** Loses the least recently used blocks until at most this many tokens are believed. */
  bound(tokens: number): void {
    this.#believed.bound(charactersPerToken * tokens);
  }

  /** Loses every block whose last use is not later than `usedAt`. */
  loseUntil(usedAt: number): void {
    this.#believed.loseUntil(usedAt);
  }
}
