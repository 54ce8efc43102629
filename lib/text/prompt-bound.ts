import { type Conversation, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { byteBound } from "./byte-bound.ts";

/** Tokens that a template adds around one turn, and around one tool or tool call. */
const perTurn = 64;
const perTool = 256;

/** How much a text may grow when a template writes it as JSON: `<` becomes `\u003c`. */
const escapedGrowth = 6;

type Prompt =
  | { readonly case: "conversation"; readonly value: Conversation }
  | { readonly case: "text"; readonly value: string };

/**
 * An upper bound on the engine's count of a prompt: a byte-level tokenizer makes at most one token for each byte that
 * reaches it. `templateTokens`: what the model's template adds to any prompt. The hold for a request and what is
 * believed of its engine are both this bound.
 */
export function promptBound(prompt: Prompt, templateTokens: number): number {
  if (prompt.case === "text") {
    return templateTokens + byteBound(prompt.value);
  }
  let bound = templateTokens;
  const { messages, tools } = prompt.value;
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

/**
 * The same for an input to be embedded. An input longer than the model's context is refused, not read.
 */
export function inputBound(input: string, templateTokens: number, contextLength: number): number {
  return Math.min(contextLength, byteBound(input) + templateTokens);
}
