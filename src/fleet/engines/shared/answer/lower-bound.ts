import type { EngineRequest, EngineUsage } from "../../interface.ts";

/**
 * A lower bound on the tokens of a broken-off answer whose engine has not counted yet: one token for each word of the
 * prompt and for each piece of the answer, since no tokenizer joins words and few engines send less than a token. A
 * template's own text may come as a piece that is not a token. So nothing depends on the bound while the engine's own
 * count may still come.
 */
export class LowerBound {
  readonly #prompt: EngineRequest["prompt"];
  /** Counted on first use: most engines count with their first piece, and a prompt is long. */
  #inputTokens: number | undefined;
  #pieces = 0;

  constructor(prompt: EngineRequest["prompt"]) {
    this.#prompt = prompt;
  }

  /** Whether any piece came. */
  get any(): boolean {
    return this.#pieces > 0;
  }

  get usage(): EngineUsage {
    this.#inputTokens ??= leastInput(this.#prompt);
    return { inputTokens: this.#inputTokens, outputTokens: this.#pieces, isLowerBound: true };
  }

  /** A piece of the answer came. */
  add(): void {
    this.#pieces++;
  }
}

/** A lower bound on the tokens of a prompt. */
export function leastInput(prompt: EngineRequest["prompt"]): number {
  return Math.max(1, countWords(prompt));
}

function countWords(prompt: EngineRequest["prompt"]): number {
  if (prompt.case === "text") {
    return words(prompt.value);
  }
  return prompt.value.messages.reduce((sum, { text }) => sum + words(text), 0);
}

function words(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
