import type { ServedModel } from "../../catalogue/interface.ts";
import { believableInputs, isWholeNumber, templateTokens } from "./believable-tokens.ts";
import { serverFailed } from "./failures.ts";

/** The inputs' tokens as the server counted them, at most as many as they can have. Throws when none were counted. */
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
  onDoubt(`counted ${told} tokens in inputs that have ${bound} at most`);
  return bound;
}
