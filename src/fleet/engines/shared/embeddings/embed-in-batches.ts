import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { byteBound } from "#lib/text/byte-bound.ts";
import type { EngineEmbeddings, EngineEmbedRequest } from "../../interface.ts";
import { inputTooLong, unrefusedInput } from "../faults.ts";

/** Tokens that an engine adds around an input where it is unknown: beginning and end, a short task prefix. */
const usualTemplateTokens = 16;

/** How an engine embeds. */
export interface BatchEmbedder {
  /** The most inputs of one call. */
  readonly size: number;
  /** Embeds inputs in one call. Throws INPUT_TOO_LONG or CONTEXT_LENGTH_EXCEEDED when one is too long. */
  readonly embed: (inputs: readonly string[]) => Promise<EngineEmbeddings>;
  /** Counts an input's tokens. Undefined: the engine cannot count. */
  readonly count: (input: string) => Promise<number | undefined>;
  /** The most tokens of an input. */
  readonly limit: number;
  /**
   * Whether the engine may cut an input that is too long, and says so by its count at most. Each input that may be too
   * long is then embedded alone, so that the count is its own.
   */
  readonly mayCut?: Pick<EngineEmbedRequest, "templateTokens">;
}

/**
 * Embeds any number of inputs, in their order. Engines refuse a call without naming the input, so that the inputs of a
 * refused call are tried one by one to find the one that is too long.
 */
export async function embedInBatches(inputs: readonly string[], embedder: BatchEmbedder): Promise<EngineEmbeddings> {
  const vectors: Float32Array[] = [];
  let inputTokens = 0;
  for (let start = 0, end = 0; start < inputs.length; start = end) {
    end = endOfBatch(inputs, start, embedder);
    const answer = await embedBatch(inputs.slice(start, end), start, embedder);
    if (embedder.mayCut && end - start === 1 && answer.inputTokens > embedder.limit) {
      throw unrefusedInput(start, embedder.limit, answer.inputTokens);
    }
    vectors.push(...answer.vectors);
    inputTokens += answer.inputTokens;
  }
  return { vectors, inputTokens };
}

function endOfBatch(inputs: readonly string[], start: number, { size, limit, mayCut }: BatchEmbedder): number {
  const end = Math.min(inputs.length, start + size);
  if (!mayCut) {
    return end;
  }
  const { templateTokens = usualTemplateTokens } = mayCut;
  for (let at = start; at < end; at++) {
    if (byteBound(inputs[at] ?? "") + templateTokens > limit) {
      return Math.max(at, start + 1);
    }
  }
  return end;
}

async function embedBatch(batch: readonly string[], start: number, embedder: BatchEmbedder): Promise<EngineEmbeddings> {
  try {
    return await embedder.embed(batch);
  } catch (error) {
    const detail = readDetail(error);
    if (detail?.reason !== Reason.INPUT_TOO_LONG && detail?.reason !== Reason.CONTEXT_LENGTH_EXCEEDED) {
      throw error;
    }
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) {
      const count = () => embedder.count(only).catch(() => undefined); // it may be too long to be counted, too
      const told = readTokenBound(detail);
      const actual = told.actual === undefined ? await count() : Number(told.actual);
      throw inputTooLong(describe(error), start, { limit: Number(told.limit ?? embedder.limit), actual });
    }
    for (const [index, input] of batch.entries()) {
      await embedBatch([input], start + index, embedder);
    }
    throw error;
  }
}

function describe(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : "an input is too long";
}
