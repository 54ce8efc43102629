import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import type { EngineRequest } from "../interface.ts";
import { engineFailed } from "../shared/faults.ts";

/** Refuses a server that accepts less than the model's context. Throws ENGINE_FAILED. */
export function checkLimit(where: string, longest: number, wanted: number): void {
  if (longest >= wanted) {
    return;
  }
  throw engineFailed(`${where} takes ${longest} tokens, not ${wanted}: raise --max-batch-tokens`, false);
}

/** The most characters for each token in an input that may still fit. The tokens of a longer input are not listed. */
const charactersPerToken = 8;

/** How a server counts an input's tokens. */
export interface InputCounter {
  /** The most tokens of an input. */
  readonly limit: number;
  /** Counts by listing all tokens, each with its text. */
  readonly list: (input: string) => Promise<number>;
  /** Embeds the input and returns its tokens. Throws INPUT_TOO_LONG, with the number where the server reports it. */
  readonly embed: (input: string) => Promise<number>;
}

/**
 * Counts an input's tokens. Undefined: the prompt is not a text, which an embedding model cannot take. A list of tokens
 * takes fifty times the memory of the text. So a text that can hardly fit is counted by the refusal to embed it.
 */
export async function countInput(
  prompt: EngineRequest["prompt"],
  { limit, list, embed }: InputCounter,
): Promise<number | undefined> {
  if (prompt.case !== "text") {
    return undefined;
  }
  if (prompt.value.length <= limit * charactersPerToken) {
    return list(prompt.value);
  }
  try {
    return await embed(prompt.value);
  } catch (error) {
    const detail = readDetail(error);
    const actual = detail?.reason === Reason.INPUT_TOO_LONG ? readTokenBound(detail).actual : undefined;
    if (actual === undefined) {
      throw error;
    }
    return Number(actual);
  }
}
