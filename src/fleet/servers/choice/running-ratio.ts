/** The part of what was learned that remains when something is added. */
const memory = 0.99;

/** The recent ratio of one amount of tokens to another. */
export class RunningRatio {
  #tokens: number;
  #others: number;

  /** Starts from an assumed value, which has the weight of this many tokens. */
  constructor(assumed: number, tokens: number) {
    this.#tokens = tokens;
    this.#others = tokens * assumed;
  }

  /** The ratio of the others to the tokens. */
  get value(): number {
    return this.#others / this.#tokens;
  }

  learn(tokens: number, others: number): void {
    this.#tokens = this.#tokens * memory + tokens;
    this.#others = this.#others * memory + others;
  }
}
