import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import type { Fleet, FleetRequest } from "#src/fleet/interface.ts";
import { outputBeside } from "./output-limit.ts";

/**
 * Tokens to leave free when the engine's own numbers say how far the output must shrink. Some engines refuse a prompt
 * and output that only come near the context, and SGLang reserves a number of tokens that it does not report.
 */
const margins = [1, 128];

/** What is needed to fit a generation. */
interface Dependencies {
  readonly fleet: Pick<Fleet, "generate">;
  readonly model: ServedModel;
  /** Counts the prompt. Undefined: its length is known already, so that only the engine's own numbers can help. */
  readonly countInput: (() => Promise<number | undefined>) | undefined;
}

/**
 * Generates, and asks for less output when prompt and output together exceed the context although the prompt alone does
 * not: engines differ in what they accept, and without a tokenizer the prompt's length was estimated. An engine refuses
 * before anything has run or was counted. Throws CONTEXT_LENGTH_EXCEEDED when no room is left, and the engine's refusal
 * when the room cannot be known.
 */
export function fittedGeneration(
  parts: Dependencies,
  request: FleetRequest,
  signal: AbortSignal,
): AsyncIterableIterator<EngineOutput> {
  return new FittedGeneration(parts, request, signal);
}

/** Passes outputs through. A generator around a generator would cost an event-loop turn for each output. */
class FittedGeneration implements AsyncIterableIterator<EngineOutput> {
  readonly #parts: Dependencies;
  readonly #signal: AbortSignal;
  #request: FleetRequest;
  #running: AsyncIterator<EngineOutput>;
  #began = false;
  #refusals = 0;
  #counted = false;

  constructor(parts: Dependencies, request: FleetRequest, signal: AbortSignal) {
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

  /** The output to ask for after a refusal. Undefined: no smaller output is known to fit. */
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
    return left < maxOutputTokens ? left : undefined; // it fits, yet the engine refuses it
  }
}

/** The tokens that a refusal leaves beside the prompt. 0: none, or the refusal does not say. */
function roomIn(error: unknown): number {
  const detail = readDetail(error);
  const { limit, actual } = detail === undefined ? {} : readTokenBound(detail);
  return limit === undefined || actual === undefined ? 0 : Number(limit - actual);
}
