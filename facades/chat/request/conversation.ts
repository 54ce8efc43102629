import type {
  AssistantContent,
  AssistantMessage,
  AssistantPart,
  ChatMessage,
  Content,
  ToolCall as ToolCallParam,
} from "#gen/tollgate/chat/v1/chat_message_pb.js";
import { type Message, Role, type ToolCall } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { invalidField } from "../../http/request/error.ts";

/** Translates turns one for one, so that an index is the same on both sides. Throws RequestError with the path. */
export function toTurns(messages: readonly ChatMessage[]): Message[] {
  return messages.map(({ turn }, index) => {
    switch (turn.case) {
      case "system":
      case "developer":
        return message(Role.SYSTEM, joinText(turn.value.content));
      case "user":
        return message(Role.USER, joinText(turn.value.content));
      case "assistant":
        return assistant(turn.value);
      case "tool":
        return { ...message(Role.TOOL, joinText(turn.value.content)), toolCallId: turn.value.toolCallId };
      default:
        throw invalidField(`messages[${index}].role`, "is required");
    }
  });
}

function assistant(turn: AssistantMessage): Message {
  return {
    ...message(Role.ASSISTANT, joinText(turn.content) || (turn.refusal ?? "")),
    reasoning: turn.reasoning ?? turn.reasoningContent ?? "",
    toolCalls: turn.toolCalls.map(toolCall),
  };
}

function toolCall({ id, function: called }: ToolCallParam): ToolCall {
  const { name = "", arguments: given = "" } = called ?? {};
  return { $typeName: "tollgate.inference.v1.ToolCall", id, name, argumentsJson: asObject(given) };
}

/**
 * The arguments as a JSON object, since chat templates parse them. What a model wrote wrongly, or could not finish, is
 * kept as a text within one: clients send it back with the error that they met, so that the model can correct itself.
 */
function asObject(given: string): string {
  if (given.trim() === "") {
    return "{}";
  }
  return isJsonObject(given) ? given : JSON.stringify({ INVALID_JSON: given });
}

function isJsonObject(text: string): boolean {
  if (!text.trimStart().startsWith("{")) {
    return false;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Joins the parts of a content as separate pieces, as chat templates for text do. */
function joinText(content: Content | AssistantContent | undefined): string {
  switch (content?.form.case) {
    case "text":
      return content.form.value;
    case "parts":
      return content.form.value.parts.map(partText).join("\n");
    default:
      return "";
  }
}

function partText({ kind }: Pick<AssistantPart, "kind">): string {
  return kind.case === "refusal" ? kind.value.refusal : (kind.value?.text ?? "");
}

function message(role: Role, text: string): Message {
  return { $typeName: "tollgate.inference.v1.Message", role, text, reasoning: "", toolCalls: [], toolCallId: "" };
}
