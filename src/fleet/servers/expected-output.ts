import type { RoutingRequest } from "../routing/policy.ts";
import type { Footprint } from "./place.ts";

/** Tokens of an answer before one was seen. */
const usual = 256;

/** The part of each new answer in what is expected of the next. */
const learning = 1 / 32;

/** How many tokens an answer of a model has, learned from those before: what clients ask for at most says little. */
export class ExpectedOutput {
  #mean = usual;

  /** Tokens that a request is for, roughly; embeddings have no answer. */
  measure({ promptTokens: prompt, request }: RoutingRequest): Footprint & { readonly total: number } {
    const output = request === undefined ? 0 : Math.min(request.maxOutputTokens, Math.ceil(this.#mean));
    return { prompt, output, total: prompt + output };
  }

  /** An answer had so many. */
  learn(tokens: number): void {
    this.#mean += (tokens - this.#mean) * learning;
  }
}
