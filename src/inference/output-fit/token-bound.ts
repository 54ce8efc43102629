import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { byteBound } from "../../../lib/text/byte-bound.ts";

/** Tokens that a chat template may add around one turn: role, separators, thinking tags. */
const perMessage = 24;
/** Tokens that a chat template may add around one tool and once for the use of tools at all. */
const perTool = 64;
const forTools = 768;
/** Tokens that a template may add at all: beginning, generation prompt, a standard preamble with the date. */
const perPrompt = 256;

type Prompt =
  | { readonly case: "conversation"; readonly value: Conversation }
  | { readonly case: "text"; readonly value: string };

/**
 * A number of tokens that the engine's count of a prompt cannot pass: a byte-level tokenizer makes at
 * most one token a byte, and the template's additions are bounded generously.
 */
export function inputBound(prompt: Prompt): number {
  if (prompt.case === "text") {
    return byteBound(prompt.value) + perPrompt;
  }
  const { messages, tools } = prompt.value;
  let bound = perPrompt + messages.length * perMessage + (tools.length === 0 ? 0 : forTools + tools.length * perTool);
  for (const text of textsOf(prompt.value)) {
    bound += byteBound(text);
  }
  return bound;
}

/** Every text of a conversation that reaches the prompt. */
function* textsOf({ messages, tools }: Conversation): Generator<string> {
  for (const message of messages) {
    yield message.text;
    yield message.reasoning;
    for (const call of message.toolCalls) {
      yield call.name + call.argumentsJson;
    }
  }
  for (const tool of tools) {
    yield tool.name + tool.description + tool.parametersJson;
  }
}
