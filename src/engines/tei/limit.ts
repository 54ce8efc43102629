import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "../../../lib/errors/detail.ts";
import type { EngineRequest } from "../interface.ts";
import { engineFailed } from "../shared/faults.ts";

/** A server that takes less than the model's context is no server for it. Throws ENGINE_FAILED. */
export function checkLimit(where: string, longest: number, wanted: number): void {
  if (longest >= wanted) {
    return;
  }
  throw engineFailed(`${where} takes ${longest} tokens, not ${wanted}: raise --max-batch-tokens`, false);
}

/** Characters that stand for a token in an input that may still fit; more of them are no longer listed. */
const charactersPerToken = 8;

/** How a server counts an input's tokens. */
export interface InputCounter {
  /** The most tokens of an input. */
  readonly limit: number;
  /** Counts by having all tokens listed, each with its text. */
  readonly list: (input: string) => Promise<number>;
  /** Embeds the input and tells its tokens. Throws INPUT_TOO_LONG, with the number where it is told. */
  readonly embed: (input: string) => Promise<number>;
}

/**
 * The number of an input's tokens. Undefined: the prompt is no text, which an embedding model cannot take. A list of them takes fifty times the memory of the text, so that a
 * text that can hardly fit is counted by the refusal to embed it.
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
