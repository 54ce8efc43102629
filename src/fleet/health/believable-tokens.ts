import { inputBound, promptBound } from "#lib/text/prompt-bound.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { FleetRequest } from "../interface.ts";

// Bounds on the tokens that an honest server can count: a count beyond them is false. They are those of the hold, with
// the most that a template may add in place of what it is known to add.

/** Tokens that a chat template may add where the configuration gives no number. Vendors' preambles have up to 3,000. */
const mostTemplateTokens = { generation: 4096, embedding: 256 } as const;

/** Whether a value can be a count: a whole number, 0 or more. */
export function isWholeNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/** Tokens that a model's template may add to any prompt. */
export function templateTokens({ kind, template_tokens }: ServedModel): number {
  return template_tokens ?? mostTemplateTokens[kind];
}

/** Whether a count of a prompt's tokens is possible. Reads the prompt only when the template alone is exceeded. */
export function isBelievableInput(count: number, prompt: FleetRequest["prompt"], model: ServedModel): boolean {
  const template = templateTokens(model);
  if (count <= template || count <= template + countCharacters(prompt)) {
    return true;
  }
  return count <= believableInput(prompt, model);
}

/** The most tokens that a prompt can have. */
export function believableInput(prompt: FleetRequest["prompt"], model: ServedModel): number {
  return promptBound(prompt, templateTokens(model));
}

/** The most tokens that inputs of an embedding can have. Each input counts at most the model's context length. */
export function believableInputs(inputs: readonly string[], model: ServedModel): number {
  const template = templateTokens(model);
  return inputs.reduce((sum, input) => sum + inputBound(input, template, model.context_length), 0);
}

/** Never more than the bound, and cheaper: reads only the lengths of texts. */
function countCharacters(prompt: FleetRequest["prompt"]): number {
  if (prompt.case === "text") {
    return prompt.value.length;
  }
  return prompt.value.messages.reduce((sum, { text, reasoning }) => sum + text.length + reasoning.length, 0);
}
