import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import { UnrefusedInput } from "../engines/interface.ts";
import { believableInputs, isWholeNumber, templateTokens } from "./believable-tokens.ts";
import { serverFailed } from "./failures.ts";

/**
 * The inputs' tokens as the server counted them, at most as many as they can have. Throws when none were counted, and
 * INPUT_TOO_LONG for a count that the texts can have but the model does not take: the server may have cut one.
 */
export function believeInputs(
  told: number,
  inputs: readonly string[],
  model: ServedModel,
  onDoubt: (what: string) => void,
): number {
  if (!isWholeNumber(told) || told < 1) {
    onDoubt(`counted ${told} tokens in inputs`);
    throw serverFailed("the tokens of inputs were not counted", false);
  }
  if (told <= inputs.length * Math.min(templateTokens(model), model.context_length)) {
    return told;
  }
  const bound = believableInputs(inputs, model);
  if (told <= bound) {
    return told;
  }
  if (told <= believableInputs(inputs, { ...model, context_length: Number.POSITIVE_INFINITY })) {
    throw unrefused(told, bound);
  }
  onDoubt(`counted ${told} tokens in inputs that have ${bound} at most`);
  return bound;
}

function unrefused(told: number, bound: number): Error {
  return failure(
    Reason.INPUT_TOO_LONG,
    `The inputs have ${told} tokens; they may have at most ${bound}.`,
    { parameter: "inputs", bound: { case: "tokens", value: { limit: BigInt(bound), actual: BigInt(told) } } },
    new UnrefusedInput(`took inputs of ${told} tokens`, false),
  );
}
