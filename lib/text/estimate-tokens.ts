import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";

/** Characters in a token: a low estimate for English and code. For estimates, never for money. */
export const charactersPerToken = 4;

/** About how many tokens a chat template adds to one turn. */
const perTurn = 4;

type Prompt =
  | { readonly case: "conversation"; readonly value: Conversation }
  | { readonly case: "text"; readonly value: string };

/**
 * Estimates how many tokens a prompt has from its length: for limits, routing and counting without a tokenizer. Never
 * used for billing.
 */
export function estimateTokens(prompt: Prompt): number {
  if (prompt.case === "text") {
    return Math.max(1, Math.ceil(prompt.value.length / charactersPerToken));
  }
  const { messages, tools } = prompt.value;
  let characters = 0;
  for (const { text, reasoning, toolCalls } of messages) {
    characters += text.length + reasoning.length;
    for (const { name, argumentsJson } of toolCalls) {
      characters += name.length + argumentsJson.length;
    }
  }
  for (const { name, description, parametersJson } of tools) {
    characters += name.length + description.length + parametersJson.length;
  }
  return Math.max(1, Math.ceil(characters / charactersPerToken) + messages.length * perTurn);
}
