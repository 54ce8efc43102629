import type { Depth } from "../thinking.ts";
import { encode, special } from "./tokenizer.ts";

/** A tool that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly parameters?: unknown;
}

/** A call that the model made. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** One turn of a conversation. */
export interface Message {
  readonly role: string;
  readonly content: string;
  readonly reasoning?: string;
  readonly calls?: readonly ToolCall[];
}

/** What the template turns into a prompt. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly depth: Depth;
  /** The last message is left open, for the model to continue. */
  readonly continueFinal: boolean;
  /** Whether the template itself opens the thinking block. */
  readonly opensThinking: boolean;
}

/**
 * The prompt of a conversation, in the style of ChatML. Thinking of turns before the last question is left out, as in
 * most templates.
 */
export function applyTemplate(conversation: Conversation): number[] {
  const { messages, tools } = conversation;
  const ids: number[] = [];
  if (tools.length > 0) {
    ids.push(special.turnStart);
    encode(`tools\n${JSON.stringify(tools)}`, ids);
    ids.push(special.turnEnd);
  }
  const question = messages.findLastIndex((message) => message.role === "user");
  const last = messages.length - 1;
  for (const [at, message] of messages.entries()) {
    ids.push(special.turnStart);
    encode(`${message.role}\n`, ids);
    if (message.reasoning !== undefined && at > question) {
      thinking(message.reasoning, ids);
    }
    encode(message.content, ids);
    for (const call of message.calls ?? []) {
      toolCall(call, ids);
    }
    if (!(conversation.continueFinal && at === last)) {
      ids.push(special.turnEnd);
    }
  }
  if (conversation.continueFinal) {
    return ids;
  }
  ids.push(special.turnStart);
  encode("assistant\n", ids);
  if (conversation.depth !== "none" && conversation.opensThinking) {
    ids.push(special.thinkStart);
  }
  return ids;
}

function thinking(text: string, ids: number[]): void {
  ids.push(special.thinkStart);
  encode(text, ids);
  ids.push(special.thinkEnd);
}

function toolCall(call: ToolCall, ids: number[]): void {
  ids.push(special.callStart);
  encode(call.name, ids);
  encode(call.arguments, ids);
  ids.push(special.callEnd);
}
