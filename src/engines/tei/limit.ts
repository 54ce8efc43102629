import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "../../../lib/errors/detail.ts";
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
export interface Counter {
  /** The most tokens of an input. */
  readonly limit: number;
  /** Counts by having all tokens listed, each with its text. */
  readonly list: () => Promise<number>;
  /** Embeds the input and tells its tokens. Throws INPUT_TOO_LONG, with the number where it is told. */
  readonly embed: () => Promise<number>;
}

/**
 * The number of an input's tokens. A list of them takes fifty times the memory of the text, so that a
 * text that can hardly fit is counted by the refusal to embed it.
 */
export async function countInput(text: string, { limit, list, embed }: Counter): Promise<number | undefined> {
  if (text.length <= limit * charactersPerToken) {
    return list();
  }
  try {
    return await embed();
  } catch (error) {
    const detail = readDetail(error);
    const actual = detail?.reason === Reason.INPUT_TOO_LONG ? readTokenBound(detail).actual : undefined;
    if (actual === undefined) {
      throw error;
    }
    return Number(actual);
  }
}
