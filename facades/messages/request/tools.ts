import {
  type Conversation,
  type Tool,
  type ToolChoice,
  ToolChoiceMode,
} from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import {
  type ToolChoice as ToolChoiceParam,
  ToolChoiceType,
  type ToolParam,
} from "#gen/tollgate/messages/v1/tool_pb.js";
import { invalidField } from "../../http/request/error.ts";

/**
 * The tools and the tool choice. Without tools there is no choice. Throws RequestError for tools that the original
 * service runs itself, and when the choice demands a tool that is not in the list.
 */
export function toTools(
  request: Pick<CreateMessageRequest, "tools" | "toolChoice">,
): Pick<Conversation, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = request.tools.map((tool, index) => toTool(tool, `tools[${index}]`));
  refuseRepeats(tools);
  const toolChoice = request.toolChoice && toToolChoice(request.toolChoice, tools);
  if (toolChoice === undefined || tools.length === 0) {
    return { tools };
  }
  return { tools, toolChoice, ...(request.toolChoice?.disableParallelToolUse && { parallelToolCalls: false }) };
}

/** Refuses tools of the same name: their calls could not be told apart. */
function refuseRepeats(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name)) {
      throw invalidField(`tools[${index}].name`, "must be unique: an earlier tool has this name");
    }
    names.add(name);
  }
}

function toTool({ type, name, description, inputSchema }: ToolParam, path: string): Tool {
  if (type !== "" && type !== "custom") {
    throw invalidField(`${path}.type`, `must be "custom": this service runs no tools of its own`);
  }
  const parametersJson = objectSchema(inputSchema, `${path}.input_schema`);
  return { $typeName: "tollgate.inference.v1.Tool", name, description, parametersJson };
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
    throw invalidField("tool_choice.name", "must be the name of one of the tools");
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

/** The schema with its type stated, as engines require. The usual schema begins with its type and is not parsed. */
function objectSchema(schema: string, path: string): string {
  if (/^\{("\$schema":"[^"]*",)?"type":"/.test(schema)) {
    return schema;
  }
  if (schema === "") {
    throw invalidField(path, "is required");
  }
  const value: unknown = JSON.parse(schema);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField(path, "must be an object");
  }
  const named = "type" in value && value.type !== null;
  return named ? schema : JSON.stringify({ ...value, type: "object" });
}
