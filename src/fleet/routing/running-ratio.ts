/** How much of what is remembered stays when something is added. */
const memory = 0.99;

/** How one amount of tokens was to another of late. */
export class RunningRatio {
  #tokens: number;
  #others: number;

  /** Assumes a value before anything is known, with the weight of so many tokens. */
  constructor(assumed: number, tokens: number) {
    this.#tokens = tokens;
    this.#others = tokens * assumed;
  }

  /** The others as a part of the tokens. */
  get value(): number {
    return this.#others / this.#tokens;
  }

  learn(tokens: number, others: number): void {
    this.#tokens = this.#tokens * memory + tokens;
    this.#others = this.#others * memory + others;
  }
}
