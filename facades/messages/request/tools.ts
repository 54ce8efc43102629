import {
  type Conversation,
  type Tool,
  type ToolChoice,
  ToolChoiceMode,
} from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { type ToolChoice as ToolChoiceParam, ToolChoiceType } from "#gen/tollgate/messages/v1/tool_pb.js";
import { invalidField } from "../../http/request/error.ts";
import { offeredTools } from "./offered-tools.ts";

/**
 * The tools and the tool choice. Without tools there is no choice. Throws RequestError for tools that the original
 * service runs itself, and when the choice demands a tool that is not offered.
 */
export function toTools(
  request: Pick<CreateMessageRequest, "tools" | "toolChoice" | "messages">,
): Pick<Conversation, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = offeredTools(request);
  const toolChoice = request.toolChoice && toToolChoice(request.toolChoice, tools);
  if (toolChoice === undefined || tools.length === 0) {
    return { tools };
  }
  return { tools, toolChoice, ...(request.toolChoice?.disableParallelToolUse && { parallelToolCalls: false }) };
}

function toToolChoice({ type, name }: ToolChoiceParam, tools: readonly Tool[]): ToolChoice {
  const mode = modes[type];
  if (mode === ToolChoiceMode.REQUIRED && tools.length === 0) {
    throw invalidField("tool_choice", 'must not be "any" without tools');
  }
  if (mode !== ToolChoiceMode.NAMED) {
    return { $typeName: "tollgate.inference.v1.ToolChoice", mode, name: "" };
  }
  if (!tools.some((tool) => tool.name === name)) {
    throw invalidField("tool_choice.name", "must be the name of one of the tools that are offered");
  }
  return { $typeName: "tollgate.inference.v1.ToolChoice", mode, name };
}

const modes = {
  [ToolChoiceType.UNSPECIFIED]: ToolChoiceMode.AUTO,
  [ToolChoiceType.AUTO]: ToolChoiceMode.AUTO,
  [ToolChoiceType.ANY]: ToolChoiceMode.REQUIRED,
  [ToolChoiceType.TOOL]: ToolChoiceMode.NAMED,
  [ToolChoiceType.NONE]: ToolChoiceMode.NONE,
};
