/** How much a prompt adds to what is remembered of those before it. */
const memory = 0.99;

/** What is assumed before anything is known: half, of as many tokens as a few prompts have. */
const assumedPart = 0.5;
const assumedTokens = 20_000;

/** The part of the tokens of prompts that was found in caches of late. */
export class HitPart {
  #tokens = assumedTokens;
  #found = assumedTokens * assumedPart;

  /** From 0 to 1. */
  get value(): number {
    return this.#found / this.#tokens;
  }

  /** So many tokens of a prompt were found in the cache of its server. */
  learn(promptTokens: number, foundTokens: number): void {
    this.#tokens = this.#tokens * memory + promptTokens;
    this.#found = this.#found * memory + Math.min(foundTokens, promptTokens);
  }
}
