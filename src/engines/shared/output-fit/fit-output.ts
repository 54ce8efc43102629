import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf, tokenBoundOf } from "../../../../lib/errors/detail.ts";
import type { EngineOutput, EngineRequest } from "../../interface.ts";

/**
 * Tokens that are left free when the output has to shrink. Some engines let prompt and output only come
 * near the context, and SGLang keeps a number to itself that it does not tell.
 */
const margins = [1, 128];

/**
 * Generates, and asks for less output when prompt and output together pass the context although the
 * prompt alone does not: engines differ in what they let pass, and without a tokenizer the prompt's length
 * was guessed. Nothing has run, and nothing was counted, when an engine refuses.
 */
export function fitOutput(
  request: EngineRequest,
  generate: (request: EngineRequest) => AsyncIterator<EngineOutput>,
): AsyncIterableIterator<EngineOutput> {
  return new FittedGeneration(request, generate);
}

class FittedGeneration implements AsyncIterableIterator<EngineOutput> {
  readonly #generate: (request: EngineRequest) => AsyncIterator<EngineOutput>;
  #request: EngineRequest;
  #running: AsyncIterator<EngineOutput>;
  #began = false;

  constructor(request: EngineRequest, generate: (request: EngineRequest) => AsyncIterator<EngineOutput>) {
    this.#generate = generate;
    this.#request = request;
    this.#running = generate(request);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<EngineOutput>> {
    return this.#began ? this.#running.next() : this.#begin();
  }

  async return(): Promise<IteratorResult<EngineOutput>> {
    this.#began = true;
    await this.#running.return?.();
    return { done: true, value: undefined };
  }

  async #begin(): Promise<IteratorResult<EngineOutput>> {
    for (const margin of margins) {
      try {
        const first = await this.#running.next();
        this.#began = true;
        return first;
      } catch (error) {
        const maxOutputTokens = roomIn(error, margin);
        if (this.#began || maxOutputTokens < 1 || maxOutputTokens >= this.#request.maxOutputTokens) {
          throw error;
        }
        this.#request = { ...this.#request, maxOutputTokens };
        this.#running = this.#generate(this.#request);
      }
    }
    this.#began = true;
    return this.#running.next();
  }
}

/** The output for which a refusal leaves room. 0: none, or it is not told. */
function roomIn(error: unknown, margin: number): number {
  const detail = detailOf(error);
  if (detail?.reason !== Reason.CONTEXT_LENGTH_EXCEEDED) {
    return 0;
  }
  const { limit, actual } = tokenBoundOf(detail);
  if (limit === undefined || actual === undefined) {
    return 0;
  }
  return Number(limit - actual) - margin;
}
