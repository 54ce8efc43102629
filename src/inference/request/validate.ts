import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Conversation, Message } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";

const maxStopSequences = 16;
const maxTexts = 16;

/** What a request must hold whatever the model is. Throws INVALID_ARGUMENT with the field. */
export function validate(request: GenerateRequest): void {
  const { prompt } = request;
  if (prompt.case === undefined) {
    throw refusal("prompt", "A conversation or a text is required.");
  }
  if (prompt.case === "text" && prompt.value === "") {
    throw refusal("text", "The prompt must not be empty.");
  }
  if (prompt.case === "texts") {
    validateTexts(prompt.value.texts);
  }
  if (prompt.case === "conversation") {
    validateConversation(prompt.value);
  }
  if (request.maxOutputTokens === 0) {
    throw refusal("max_output_tokens", "max_output_tokens must be at least 1.");
  }
  if (request.stopSequences.length > maxStopSequences) {
    throw refusal("stop_sequences", `At most ${maxStopSequences} stop sequences are taken.`);
  }
  const empty = request.stopSequences.indexOf("");
  if (empty >= 0) {
    throw refusal(`stop_sequences[${empty}]`, "A stop sequence must not be empty.");
  }
}

function validateTexts(texts: readonly string[]): void {
  if (texts.length < 1 || texts.length > maxTexts) {
    throw refusal("texts", `From 1 to ${maxTexts} texts are taken.`);
  }
  const empty = texts.indexOf("");
  if (empty >= 0) {
    throw refusal(`texts[${empty}]`, "The prompt must not be empty.");
  }
}

/** A conversation as Generate and CountTokens take it. */
export function validateConversation({ messages, tools, toolChoice }: Conversation): void {
  if (messages.length === 0) {
    throw refusal("conversation.messages", "At least one message is required.");
  }
  messages.forEach((message, index) => {
    validateMessage(message, `conversation.messages[${index}]`);
  });
  tools.forEach((tool, index) => {
    if (tool.name === "") {
      throw refusal(`conversation.tools[${index}].name`, "A tool needs a name.");
    }
  });
  const mode = toolChoice?.mode ?? ToolChoiceMode.AUTO;
  if (mode === ToolChoiceMode.NAMED && !tools.some((tool) => tool.name === toolChoice?.name)) {
    throw refusal("conversation.tool_choice.name", "The named tool is not among the tools.");
  }
  if (mode === ToolChoiceMode.REQUIRED && tools.length === 0) {
    throw refusal("conversation.tool_choice", "A tool cannot be required without tools.");
  }
}

function validateMessage(message: Message, path: string): void {
  switch (message.role) {
    case Role.SYSTEM:
    case Role.USER:
    case Role.ASSISTANT:
      return;
    case Role.TOOL:
      if (message.toolCallId === "") {
        throw refusal(`${path}.tool_call_id`, "A tool's result needs the id of its call.");
      }
      return;
    default:
      throw refusal(`${path}.role`, "role must be system, user, assistant or tool.");
  }
}

const refusal = (parameter: string, message: string) => failure(Reason.INVALID_ARGUMENT, message, { parameter });
