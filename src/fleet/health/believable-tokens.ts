import { type Conversation, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { byteBound } from "../../../lib/text/byte-bound.ts";
import type { ServedModel } from "../../catalogue/interface.ts";
import type { FleetRequest } from "../interface.ts";

// The most tokens that an honest server can count. Wider than what is held in advance: a count beyond it is a lie.

/** Tokens that a chat template may add by itself where the configuration does not say: preambles of vendors have up to 3,000. */
const usualTemplateTokens = { generation: 4096, embedding: 256 } as const;

/** Tokens around one turn, and around one tool or call. */
const perTurn = 64;
const perTool = 256;

/** Texts that templates write as JSON anew may grow: `<` becomes `\u003c`. */
const escapedGrowth = 6;

/** Whether a value can be a count: a whole number that is no less than zero. */
export function isWholeNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/** Tokens that a model's template may add to any prompt. */
export function templateTokens({ kind, template_tokens }: ServedModel): number {
  return template_tokens ?? usualTemplateTokens[kind];
}

/** Whether a count of a prompt's tokens can be true. Reads the prompt only when the count is beyond its template. */
export function isBelievableInput(count: number, prompt: FleetRequest["prompt"], model: ServedModel): boolean {
  const template = templateTokens(model);
  if (count <= template || count <= template + countCharacters(prompt)) {
    return true;
  }
  return count <= believableInput(prompt, model);
}

/** The most tokens that a prompt can have: one for each byte, and what a template adds. */
export function believableInput(prompt: FleetRequest["prompt"], model: ServedModel): number {
  const template = templateTokens(model);
  return template + (prompt.case === "text" ? byteBound(prompt.value) : conversationBound(prompt.value));
}

/** The most tokens that inputs to be embedded can have, each at most as many as the model takes. */
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

/** No more than the bound, and cheaper: no text is read. */
function countCharacters(prompt: FleetRequest["prompt"]): number {
  if (prompt.case === "text") {
    return prompt.value.length;
  }
  return prompt.value.messages.reduce((sum, { text, reasoning }) => sum + text.length + reasoning.length, 0);
}
