import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import type { ServedModel } from "../../catalogue/interface.ts";
import type { EngineOutput } from "../../engines/interface.ts";
import type { Fleet, FleetRequest } from "../../fleet/interface.ts";
import { outputBeside } from "./output-limit.ts";

/**
 * Generates from a prompt that was only estimated to fit. When the engine refuses it, which it does before
 * anything has run, the prompt is counted and the output shrinks to what the context leaves. Throws
 * CONTEXT_LENGTH_EXCEEDED when that is nothing, and the engine's refusal when nobody can count.
 */
export async function* fittedGeneration(
  fleet: Pick<Fleet, "generate">,
  model: ServedModel,
  request: FleetRequest,
  countInput: () => Promise<number | undefined>,
  signal: AbortSignal,
): AsyncGenerator<EngineOutput> {
  let began = false;
  try {
    for await (const output of fleet.generate(model, request, signal)) {
      began = true;
      yield output;
    }
    return;
  } catch (error) {
    if (began || detailOf(error)?.reason !== Reason.CONTEXT_LENGTH_EXCEEDED) {
      throw error;
    }
    const counted = await countInput();
    if (counted === undefined) {
      throw error;
    }
    const maxOutputTokens = outputBeside(counted, request.maxOutputTokens, model.context_length);
    if (maxOutputTokens === request.maxOutputTokens) {
      throw error; // it fits, and is refused all the same
    }
    yield* fleet.generate(model, { ...request, maxOutputTokens }, signal);
  }
}
