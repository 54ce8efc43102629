import type { Conversation, Message, Tool, ToolChoice } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { parseKeepingDigits } from "#lib/text/json/long-numbers.ts";
import type { EngineRequest } from "../../interface.ts";
import { parseParameters } from "../prompt/tool-parameters.ts";
import { toTurns } from "../prompt/turns.ts";
import { writeSampling } from "../sampling.ts";
import type { Dialect, Fields } from "./dialect.ts";

/** The path and body of a generation. The body has the fields of the common API and of the dialect, and no others. */
export function generationRequest(
  request: EngineRequest,
  dialect: Dialect,
  systemAnywhere: boolean,
): { readonly path: string; readonly body: string } {
  const { sampling, stopSequences } = request;
  const body = {
    ...promptFields(request, dialect, systemAnywhere),
    max_tokens: request.maxOutputTokens,
    ...writeSampling(sampling, dialect.sampling),
    stop: stopSequences.length > 0 ? stopSequences : undefined,
    stream: true,
    ...dialect.fields(request),
  };
  const path = request.prompt.case === "text" ? "/v1/completions" : "/v1/chat/completions";
  return { path, body: JSON.stringify(body) };
}

/** The fields on which the prompt's tokens depend. */
export function promptFields(
  request: Pick<EngineRequest, "model" | "prompt" | "thinking" | "recipe">,
  dialect: Dialect,
  systemAnywhere: boolean,
): Fields {
  const { model, prompt } = request;
  if (prompt.case === "text") {
    return { model, prompt: prompt.value };
  }
  const { turns, continued } = toTurns(prompt.value.messages, systemAnywhere);
  return {
    model,
    messages: turns.map((message) => toMessage(message, dialect)),
    ...toolFields(prompt.value, dialect),
    ...dialect.promptFields(request, continued),
  };
}

/** A turn. `content` is always present, since templates fail without it. */
function toMessage(message: Message, dialect: Dialect): Fields {
  switch (message.role) {
    case Role.SYSTEM:
      return { role: "system", content: message.text };
    case Role.USER:
    case Role.UNSPECIFIED: // refused before it comes here
      return { role: "user", content: message.text };
    case Role.TOOL:
      return { role: "tool", tool_call_id: message.toolCallId, content: message.text };
    case Role.ASSISTANT:
      return {
        role: "assistant",
        content: message.text,
        ...(dialect.reasoningField && message.reasoning !== "" && { [dialect.reasoningField]: message.reasoning }),
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.argumentsJson || "{}" },
          })),
        }),
      };
  }
}

/** Engines refuse an empty list of tools, and a tool choice without tools. */
function toolFields(conversation: Conversation, dialect: Dialect): Fields {
  if (conversation.tools.length === 0) {
    return {};
  }
  return {
    tools: conversation.tools.map(toTool),
    tool_choice: conversation.toolChoice && toToolChoice(conversation.toolChoice),
    parallel_tool_calls: dialect.mayRefuseParallelToolCalls ? undefined : conversation.parallelToolCalls,
  };
}

function toTool(tool: Tool, index: number): Fields {
  return {
    type: "function",
    function: {
      name: tool.name,
      ...(tool.description !== "" && { description: tool.description }),
      parameters: parseParameters(tool, index, parseKeepingDigits),
    },
  };
}

function toToolChoice(choice: ToolChoice): unknown {
  switch (choice.mode) {
    case ToolChoiceMode.UNSPECIFIED:
    case ToolChoiceMode.AUTO:
      return "auto";
    case ToolChoiceMode.NONE:
      return "none";
    case ToolChoiceMode.REQUIRED:
      return "required";
    case ToolChoiceMode.NAMED:
      return { type: "function", function: { name: choice.name } };
  }
}
