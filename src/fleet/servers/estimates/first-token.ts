/** The part of what was learned that remains when something is added. */
const memory = 0.97;

/** The initial assumption: milliseconds for any request, and for each thousand tokens. */
const assumedMs = 50;
const assumedMsPerThousand = 125;

/** Larger measurements say nothing about the next request: thousands of tokens, and milliseconds. */
const mostThousands = 10_000;
const mostMs = 600_000;

/**
 * Learns a server's time to the first token: a constant for any request, plus a time for each prompt token that the
 * server has to read until then, including those of earlier requests. It is a linear regression in which older requests
 * weigh less.
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

  /** The expected milliseconds to the first token when this many tokens are to be read. */
  predict(tokens: number): number {
    const [meanTokens, meanMs] = [this.#tokens / this.#count, this.#ms / this.#count];
    const variance = this.#tokensSquared / this.#count - meanTokens * meanTokens;
    const covariance = this.#product / this.#count - meanTokens * meanMs;
    const slope = variance > 1e-6 ? Math.max(0, covariance / variance) : assumedMsPerThousand;
    const start = meanMs - slope * meanTokens;
    const thousands = tokens / 1000;
    // Where the line would begin below zero, a line through zero is used.
    return start >= 0 ? start + slope * thousands : (this.#product / this.#tokensSquared) * thousands;
  }

  /** A request with this many tokens to be read had its first token after this many milliseconds. */
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
