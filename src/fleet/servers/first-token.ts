/** The part of what was learned that stays when something is added. */
const memory = 0.97;

/** What is assumed before anything is known: as few milliseconds as this, and as many more for each thousand tokens. */
const assumedMs = 50;
const assumedMsPerThousand = 125;

/** Thousands of tokens and milliseconds beyond which a measurement says nothing of the next request. */
const mostThousands = 10_000;
const mostMs = 600_000;

/**
 * How long a server takes to a first token, learned from its own: some time for any request, and some for each prompt token
 * that it has to read until then, those before it included. A linear regression in which older requests count less.
 */
export class FirstToken {
  #count = 0;
  #tokens = 0;
  #ms = 0;
  #tokensSquared = 0;
  #product = 0;

  constructor() {
    for (const thousands of [0, 2]) {
      this.learn(1000 * thousands, assumedMs + assumedMsPerThousand * thousands);
    }
  }

  /** Milliseconds to the first token when so many tokens are to be read. */
  predict(tokens: number): number {
    const [meanTokens, meanMs] = [this.#tokens / this.#count, this.#ms / this.#count];
    const variance = this.#tokensSquared / this.#count - meanTokens * meanTokens;
    const covariance = this.#product / this.#count - meanTokens * meanMs;
    const slope = variance > 1e-6 ? Math.max(0, covariance / variance) : assumedMsPerThousand;
    const start = meanMs - slope * meanTokens;
    const thousands = tokens / 1000;
    // A line that begins below zero is one through zero.
    return start >= 0 ? start + slope * thousands : (this.#product / this.#tokensSquared) * thousands;
  }

  /** A request with so many tokens to be read had its first token after so many milliseconds. */
  learn(tokens: number, ms: number): void {
    const thousands = Math.min(mostThousands, tokens / 1000);
    const believed = Math.min(mostMs, ms);
    this.#count = this.#count * memory + 1;
    this.#tokens = this.#tokens * memory + thousands;
    this.#ms = this.#ms * memory + believed;
    this.#tokensSquared = this.#tokensSquared * memory + thousands * thousands;
    this.#product = this.#product * memory + thousands * believed;
  }
}
