import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { inputBound } from "#lib/text/byte-bound.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";

/**
 * An upper bound on the engine's count of all inputs. An input whose length in bytes could exceed the model's context
 * is counted by the engine's tokenizer; without one, the engine's answer decides. Throws INPUT_TOO_LONG with the input's
 * index, count and limit, before anything is held or run.
 */
export async function measureInputs(
  inputs: readonly string[],
  model: ServedModel,
  fleet: Fleet,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const [index, input] of inputs.entries()) {
    const bound = inputBound(input);
    if (bound <= model.context_length) {
      total += bound;
      continue;
    }
    const prompt = { case: "text", value: input } as const;
    const exact = await fleet.countTokens(model, { prompt, recipe: model.thinking }, signal).catch((error) => {
      if (readDetail(error)?.reason !== Reason.INPUT_TOO_LONG) {
        throw error;
      }
      throw tooLong(index, undefined, model.context_length); // the engine refused to count an input that long
    });
    if (exact !== undefined && exact > model.context_length) {
      throw tooLong(index, exact, model.context_length);
    }
    total += exact ?? model.context_length;
  }
  return total;
}

const tooLong = (index: number, actual: number | undefined, limit: number) =>
  failure(
    Reason.INPUT_TOO_LONG,
    `Input ${index} has ${actual ?? "far too many"} tokens; an input may have at most ${limit}.`,
    {
      parameter: `inputs[${index}]`,
      bound: {
        case: "tokens",
        value: { limit: BigInt(limit), ...(actual !== undefined && { actual: BigInt(actual) }) },
      },
    },
  );
