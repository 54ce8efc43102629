import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "../../../lib/errors/detail.ts";
import type { ServedModel } from "../../catalogue/interface.ts";
import type { EngineOutput } from "../../engines/interface.ts";
import type { Fleet, FleetRequest } from "../../fleet/interface.ts";
import { outputBeside } from "./output-limit.ts";

/**
 * Tokens that are left free when the engine's own numbers say how far the output has to shrink. Some engines let prompt
 * and output only come near the context, and SGLang keeps a number to itself that it does not tell.
 */
const margins = [1, 128];

/** The facts that a generation is fitted by. */
export interface FittedParts {
  readonly fleet: Pick<Fleet, "generate">;
  readonly model: ServedModel;
  /** Counts the prompt. Undefined: its length is known, so that the engine's own numbers are all there is to go by. */
  readonly countInput: (() => Promise<number | undefined>) | undefined;
}

/**
 * Generates, and asks for less output when prompt and output together pass the context although the prompt alone does
 * not: engines differ in what they let pass, and without a tokenizer the prompt's length was guessed. An engine refuses
 * before anything has run or was counted. Throws CONTEXT_LENGTH_EXCEEDED when nothing is left, and the engine's
 * refusal when nobody can tell what is.
 */
export function fittedGeneration(
  parts: FittedParts,
  request: FleetRequest,
  signal: AbortSignal,
): AsyncIterableIterator<EngineOutput> {
  return new FittedGeneration(parts, request, signal);
}

/** Hands outputs through: a generator around a generator would cost a turn of the event loop for each of them. */
class FittedGeneration implements AsyncIterableIterator<EngineOutput> {
  readonly #parts: FittedParts;
  readonly #signal: AbortSignal;
  #request: FleetRequest;
  #running: AsyncIterator<EngineOutput>;
  #began = false;
  #refusals = 0;
  #counted = false;

  constructor(parts: FittedParts, request: FleetRequest, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#request = request;
    this.#running = this.#generate();
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

  #generate(): AsyncIterator<EngineOutput> {
    const { fleet, model } = this.#parts;
    return fleet.generate(model, this.#request, this.#signal)[Symbol.asyncIterator]();
  }

  async #begin(): Promise<IteratorResult<EngineOutput>> {
    for (;;) {
      try {
        const first = await this.#running.next();
        this.#began = true;
        return first;
      } catch (error) {
        const maxOutputTokens = await this.#lessOutput(error);
        if (this.#began || maxOutputTokens === undefined) {
          throw error;
        }
        this.#request = { ...this.#request, maxOutputTokens };
        this.#running = this.#generate();
      }
    }
  }

  /** The output to ask for after a refusal. Undefined: no other than before can be known to fit. */
  async #lessOutput(error: unknown): Promise<number | undefined> {
    if (readDetail(error)?.reason !== Reason.CONTEXT_LENGTH_EXCEEDED) {
      return undefined;
    }
    const { maxOutputTokens } = this.#request;
    const margin = margins[this.#refusals++];
    const told = margin === undefined ? 0 : roomIn(error) - margin;
    if (told >= 1 && told < maxOutputTokens) {
      return told;
    }
    const { countInput, model } = this.#parts;
    if (this.#counted || countInput === undefined) {
      return undefined;
    }
    this.#counted = true;
    const counted = await countInput();
    const left = counted === undefined ? maxOutputTokens : outputBeside(counted, maxOutputTokens, model.context_length);
    return left < maxOutputTokens ? left : undefined; // it fits, and is refused all the same
  }
}

/** The tokens that a refusal leaves beside the prompt. 0: none, or it is not told. */
function roomIn(error: unknown): number {
  const detail = readDetail(error);
  const { limit, actual } = detail === undefined ? {} : readTokenBound(detail);
  return limit === undefined || actual === undefined ? 0 : Number(limit - actual);
}
