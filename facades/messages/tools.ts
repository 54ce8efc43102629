import { type Conversation, type Tool, ToolChoiceMode } from "#gen/inference/v1/conversation_pb.js";
import { type ToolChoice, ToolChoiceType, type ToolParam } from "#gen/messages/v1/message_param_pb.js";
import { invalidField } from "../http/request-error.ts";

/** The functions that the model may call. Throws RequestError for tools that the original service runs itself. */
export function tools(params: readonly ToolParam[]): Tool[] {
  return params.map(({ type, name, description, inputSchema }, i) => {
    if (type !== "" && type !== "custom") {
      throw invalidField(`tools[${i}].type`, `must be "custom": this service runs no tools of its own`);
    }
    return {
      $typeName: "inference.v1.Tool",
      name,
      description,
      parametersJson: objectSchema(inputSchema, `tools[${i}].input_schema`),
    };
  });
}

/** Whether and what must be called, and how often. Nothing where there are no tools to call. */
export function toolRules(
  choice: ToolChoice | undefined,
  params: readonly ToolParam[],
): Pick<Conversation, "toolChoice" | "parallelToolCalls"> {
  if (choice === undefined) return {};
  const mode = modeOf(choice.type);
  const forces = mode === ToolChoiceMode.REQUIRED || mode === ToolChoiceMode.NAMED;
  if (params.length === 0) {
    if (forces) throw invalidField("tool_choice", "needs tools to choose from");
    return {};
  }
  if (mode === ToolChoiceMode.NAMED && !params.some(({ name }) => name === choice.name)) {
    throw invalidField("tool_choice.name", "must be the name of one of the tools");
  }
  return {
    toolChoice: {
      $typeName: "inference.v1.ToolChoice",
      mode,
      name: mode === ToolChoiceMode.NAMED ? choice.name : "",
    },
    ...(choice.disableParallelToolUse && { parallelToolCalls: false }),
  };
}

function modeOf(type: ToolChoiceType): ToolChoiceMode {
  switch (type) {
    case ToolChoiceType.UNSPECIFIED:
    case ToolChoiceType.AUTO:
      return ToolChoiceMode.AUTO;
    case ToolChoiceType.ANY:
      return ToolChoiceMode.REQUIRED;
    case ToolChoiceType.TOOL:
      return ToolChoiceMode.NAMED;
    case ToolChoiceType.NONE:
      return ToolChoiceMode.NONE;
  }
}

/** The schema with its own type named, as engines require. The usual schema names it first and needs no parsing. */
function objectSchema(schema: string, path: string): string {
  if (schema.startsWith('{"type":"')) return schema;
  if (schema === "") throw invalidField(path, "is required");
  const value: unknown = JSON.parse(schema);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField(path, "must be an object");
  }
  const named = "type" in value && value.type !== null;
  return named ? schema : JSON.stringify({ ...value, type: "object" });
}
