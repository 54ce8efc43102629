/** Tokens of an answer before one was seen. */
const usual = 256;

/** The part of each new answer in what is expected of the next. */
const learning = 1 / 32;

/** How many tokens an answer of a model has, learned from those before: what clients ask for at most says little. */
export class ExpectedOutput {
  #mean = usual;

  /** Of an answer that may have so many at most. */
  within(most: number): number {
    return Math.min(most, Math.ceil(this.#mean));
  }

  /** An answer had so many. */
  learn(tokens: number): void {
    this.#mean += (tokens - this.#mean) * learning;
  }
}
