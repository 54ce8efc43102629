import type { CreateChatCompletionRequest } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import {
  type ToolChoice as ToolChoiceParam,
  ToolChoiceMode as ToolChoiceParamMode,
} from "#gen/tollgate/chat/v1/tool_pb.js";
import {
  type Conversation,
  type Tool,
  type ToolChoice,
  ToolChoiceMode,
} from "#gen/tollgate/inference/v1/conversation_pb.js";
import { invalidField } from "../../http/request/error.ts";

/**
 * The tools and the tool choice. Without tools there is no choice: clients send an empty list with "auto", which
 * engines refuse. Throws RequestError when the choice demands a tool that is not in the list.
 */
export function toTools(
  request: CreateChatCompletionRequest,
): Pick<Conversation, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = allowedTools(request.tools.map(toTool), request.toolChoice);
  const toolChoice = toToolChoice(request.toolChoice, tools);
  if (tools.length === 0) {
    return { tools };
  }
  return {
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(request.parallelToolCalls !== undefined && { parallelToolCalls: request.parallelToolCalls }),
  };
}

function toTool({ kind }: CreateChatCompletionRequest["tools"][number], index: number): Tool {
  const definition = kind.value?.function;
  if (definition?.parameters !== undefined && !definition.parameters.startsWith("{")) {
    throw invalidField(`tools[${index}].function.parameters`, "must be an object");
  }
  return {
    $typeName: "tollgate.inference.v1.Tool",
    name: definition?.name ?? "",
    description: definition?.description ?? "",
    parametersJson: definition?.parameters ?? "",
  };
}

/** The tools that a choice allows. Throws RequestError when it names a tool that is not in the list. */
function allowedTools(tools: Tool[], choice: ToolChoiceParam | undefined): Tool[] {
  const kind = choice?.form.case === "named" ? choice.form.value.kind : undefined;
  if (kind?.case !== "allowedTools") {
    return tools;
  }
  const names = kind.value.allowedTools?.tools.map((allowed) => allowed.kind.value?.function?.name ?? "") ?? [];
  const known = new Set(tools.map(({ name }) => name));
  const unknown = names.findIndex((name) => !known.has(name));
  if (unknown !== -1) {
    throw invalidField(
      `tool_choice.allowed_tools.tools[${unknown}].function.name`,
      "must be the name of one of the tools",
    );
  }
  return tools.filter(({ name }) => names.includes(name));
}

function toToolChoice(choice: ToolChoiceParam | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  switch (choice?.form.case) {
    case "mode": {
      const mode = modes[choice.form.value];
      if (mode === ToolChoiceMode.REQUIRED && tools.length === 0) {
        throw invalidField("tool_choice", 'must not be "required" without tools');
      }
      return { $typeName: "tollgate.inference.v1.ToolChoice", mode, name: "" };
    }
    case "named": {
      const { kind } = choice.form.value;
      if (kind.case === "allowedTools") {
        const mode = modes[kind.value.allowedTools?.mode ?? ToolChoiceParamMode.AUTO];
        return { $typeName: "tollgate.inference.v1.ToolChoice", mode, name: "" };
      }
      const name = kind.value?.function?.name ?? "";
      if (!tools.some((tool) => tool.name === name)) {
        throw invalidField("tool_choice.function.name", "must be the name of one of the tools");
      }
      return { $typeName: "tollgate.inference.v1.ToolChoice", mode: ToolChoiceMode.NAMED, name };
    }
    default:
      return undefined;
  }
}

const modes = {
  [ToolChoiceParamMode.UNSPECIFIED]: ToolChoiceMode.AUTO,
  [ToolChoiceParamMode.AUTO]: ToolChoiceMode.AUTO,
  [ToolChoiceParamMode.NONE]: ToolChoiceMode.NONE,
  [ToolChoiceParamMode.REQUIRED]: ToolChoiceMode.REQUIRED,
};
