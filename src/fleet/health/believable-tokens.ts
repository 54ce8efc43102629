import { type Conversation, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { byteBound } from "#lib/text/byte-bound.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { FleetRequest } from "../interface.ts";

// Bounds on the tokens that an honest server can count. They are wider than the hold for a request: a count beyond them
// is false.

/** Tokens that a chat template may add where the configuration gives no number. Vendors' preambles have up to 3,000. */
const usualTemplateTokens = { generation: 4096, embedding: 256 } as const;

/** Tokens that a template adds around one turn, and around one tool or tool call. */
const perTurn = 64;
const perTool = 256;

/** How much a text may grow when a template writes it as JSON: `<` becomes `\u003c`. */
const escapedGrowth = 6;

/** Whether a value can be a count: a whole number, 0 or more. */
export function isWholeNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/** Tokens that a model's template may add to any prompt. */
export function templateTokens({ kind, template_tokens }: ServedModel): number {
  return template_tokens ?? usualTemplateTokens[kind];
}

/** Whether a count of a prompt's tokens is possible. Reads the prompt only when the template alone is exceeded. */
export function isBelievableInput(count: number, prompt: FleetRequest["prompt"], model: ServedModel): boolean {
  const template = templateTokens(model);
  if (count <= template || count <= template + countCharacters(prompt)) {
    return true;
  }
  return count <= believableInput(prompt, model);
}

/** The most tokens that a prompt can have: one for each byte, plus the template's tokens. */
export function believableInput(prompt: FleetRequest["prompt"], model: ServedModel): number {
  const template = templateTokens(model);
  return template + (prompt.case === "text" ? byteBound(prompt.value) : conversationBound(prompt.value));
}

/** The most tokens that inputs of an embedding can have. Each input counts at most the model's context length. */
export function believableInputs(inputs: readonly string[], model: ServedModel): number {
  const template = templateTokens(model);
  return inputs.reduce((sum, input) => sum + Math.min(model.context_length, byteBound(input) + template), 0);
}

function conversationBound({ messages, tools }: Conversation): number {
  let bound = 0;
  for (const { role, text, reasoning, toolCalls } of messages) {
    bound += perTurn + byteBound(text) * (role === Role.TOOL ? escapedGrowth : 1) + byteBound(reasoning);
    for (const { name, argumentsJson } of toolCalls) {
      bound += perTool + byteBound(name) + byteBound(argumentsJson) * escapedGrowth;
    }
  }
  for (const { name, description, parametersJson } of tools) {
    bound += perTool + byteBound(name + description + parametersJson) * escapedGrowth;
  }
  return bound;
}

/** Never more than the bound, and cheaper: reads only the lengths of texts. */
function countCharacters(prompt: FleetRequest["prompt"]): number {
  if (prompt.case === "text") {
    return prompt.value.length;
  }
  return prompt.value.messages.reduce((sum, { text, reasoning }) => sum + text.length + reasoning.length, 0);
}
