import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Conversation } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { failure } from "#lib/errors/failure.ts";

/**
 * Checks a conversation's rules that bounds of single fields cannot express. Throws INVALID_ARGUMENT with the field.
 */
export function validateConversation({ messages, tools, toolChoice }: Conversation): void {
  const unnamed = messages.findIndex(({ role, toolCallId }) => role === Role.TOOL && toolCallId === "");
  if (unnamed >= 0) {
    throw refusal(`conversation.messages[${unnamed}].tool_call_id`, "A tool's result needs the id of its call.");
  }
  const mode = toolChoice?.mode ?? ToolChoiceMode.AUTO;
  if (mode === ToolChoiceMode.NAMED && !tools.some((tool) => tool.name === toolChoice?.name)) {
    throw refusal("conversation.tool_choice.name", "The named tool is not among the tools.");
  }
  if (mode === ToolChoiceMode.REQUIRED && tools.length === 0) {
    throw refusal("conversation.tool_choice", "A tool cannot be required without tools.");
  }
}

const refusal = (parameter: string, message: string) => failure(Reason.INVALID_ARGUMENT, message, { parameter });
