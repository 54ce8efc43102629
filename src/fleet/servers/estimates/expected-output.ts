import type { RoutingRequest } from "../choice/policy.ts";
import type { Footprint } from "../place.ts";

/** Tokens of an answer, assumed before the first answer. */
const usual = 256;

/** The weight of each new answer in the mean. */
const learning = 1 / 32;

/**
 * The expected tokens of a model's answers, learned from earlier answers: the maximum that clients ask for says little.
 */
export class ExpectedOutput {
  #mean = usual;

  /** The tokens that a request is expected to take. Embeddings have no answer. */
  measure({ promptTokens: prompt, request }: RoutingRequest): Footprint & { readonly total: number } {
    const output = request === undefined ? 0 : Math.min(request.maxOutputTokens, Math.ceil(this.#mean));
    return { prompt, output, total: prompt + output };
  }

  /** An answer had this many tokens. */
  learn(tokens: number): void {
    this.#mean += (tokens - this.#mean) * learning;
  }
}
