import type { Model, Token } from "./binding.ts";

/** A character has at most four bytes, and a token at least one. */
const longestCharacter = 4;

/** How many earlier tokens influence how the next one is written, as with a leading space. */
const contextLength = 8;

/** Turns tokens into text as they come. Bytes of an incomplete character wait for the rest of it. */
export class Detokenizer {
  readonly #model: Pick<Model, "detokenize">;
  #before: readonly Token[] = [];
  #waiting: Token[] = [];

  constructor(model: Pick<Model, "detokenize">) {
    this.#model = model;
  }

  push(token: Token): string {
    this.#waiting.push(token);
    const text = this.#model.detokenize(this.#waiting, false, this.#before);
    return text.endsWith("\uFFFD") && this.#waiting.length < longestCharacter ? "" : this.#flush(text);
  }

  /** The waiting text, once no more tokens come. */
  end(): string {
    return this.#waiting.length === 0 ? "" : this.#flush(this.#model.detokenize(this.#waiting, false, this.#before));
  }

  #flush(text: string): string {
    this.#before = [...this.#before, ...this.#waiting].slice(-contextLength);
    this.#waiting = [];
    return text;
  }
}
