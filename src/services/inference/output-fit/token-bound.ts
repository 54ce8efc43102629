import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { byteBound } from "#lib/text/byte-bound.ts";

/** Tokens that a chat template may add around one turn: role, separators, thinking tags. */
const perMessage = 24;
/** Tokens that a chat template may add around one tool, and once when there are any tools. */
const perTool = 64;
const forTools = 768;
/** Tokens that a template may add to any prompt: beginning, generation prompt, a standard preamble with the date. */
const perPrompt = 256;

type Prompt =
  | { readonly case: "conversation"; readonly value: Conversation }
  | { readonly case: "text"; readonly value: string };

/**
 * An upper bound on the engine's count of a prompt: a byte-level tokenizer makes at most one token for each byte, and
 * the template's additions are bounded generously.
 */
export function inputBound(prompt: Prompt): number {
  if (prompt.case === "text") {
    return byteBound(prompt.value) + perPrompt;
  }
  const { messages, tools } = prompt.value;
  let bound = perPrompt + messages.length * perMessage + (tools.length === 0 ? 0 : forTools + tools.length * perTool);
  for (const { text, reasoning, toolCalls } of messages) {
    bound += byteBound(text) + byteBound(reasoning);
    for (const { name, argumentsJson } of toolCalls) {
      bound += byteBound(name + argumentsJson);
    }
  }
  for (const { name, description, parametersJson } of tools) {
    bound += byteBound(name + description + parametersJson);
  }
  return bound;
}
