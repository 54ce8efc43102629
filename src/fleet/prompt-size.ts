import type { FleetRequest } from "./interface.ts";

/** Characters a token, on average. Good enough to tell a long prompt from a short one. */
export const charactersPerToken = 4;

/** Roughly how many tokens a prompt has. */
export function estimateTokens(prompt: FleetRequest["prompt"]): number {
  if (prompt.case === "text") return Math.ceil(prompt.value.length / charactersPerToken);
  let characters = 0;
  for (const message of prompt.value.messages) characters += message.text.length + message.reasoning.length;
  for (const tool of prompt.value.tools) characters += tool.description.length + tool.parametersJson.length;
  return Math.ceil(characters / charactersPerToken);
}
