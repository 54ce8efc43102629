import { type Conversation, type Message, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { parseKeepingDigits } from "#lib/text/json/long-numbers.ts";
import type { EngineRequest } from "../interface.ts";
import { parseArguments } from "../shared/prompt/call-arguments.ts";
import { roleNames } from "../shared/prompt/role-names.ts";
import { parseParameters } from "../shared/prompt/tool-parameters.ts";
import { toTurns } from "../shared/prompt/turns.ts";
import { writeSampling } from "../shared/sampling.ts";
import type { EngineSettings } from "../shared/settings.ts";

type Fields = Record<string, unknown>;

/**
 * The path and body of a generation. `truncate` and `shift` are off: otherwise Ollama silently drops the conversation's
 * beginning to make it fit.
 */
export function generationRequest(
  request: EngineRequest,
  { systemAnywhere, contextLength }: EngineSettings,
): { readonly path: string; readonly body: string } {
  const { model, prompt, sampling, stopSequences, maxOutputTokens } = request;
  const body = {
    model,
    ...(prompt.case === "text" ? { prompt: prompt.value, raw: true } : chatFields(prompt.value, systemAnywhere)),
    stream: true,
    truncate: false,
    shift: false,
    think: toThink(request),
    options: {
      num_ctx: contextLength,
      num_predict: maxOutputTokens,
      ...writeSampling(sampling, "ollama"),
      stop: stopSequences.length > 0 ? stopSequences : undefined,
    },
  };
  return { path: prompt.case === "text" ? "/api/generate" : "/api/chat", body: JSON.stringify(body) };
}

/** Ollama has no tool choice. A choice that forbids tools leaves them out; one that demands a call is not enforced. */
function chatFields(conversation: Conversation, systemAnywhere: boolean): Fields {
  const forbidden = conversation.toolChoice?.mode === ToolChoiceMode.NONE;
  const { turns } = toTurns(conversation.messages, systemAnywhere);
  return {
    messages: turns.map(toMessage),
    ...(conversation.tools.length > 0 && !forbidden && { tools: conversation.tools.map(toTool) }),
  };
}

/** Undefined for a model without a switch: Ollama refuses the field where the model cannot think. */
function toThink({ thinking }: EngineRequest): boolean | string | undefined {
  return thinking?.deepest ? "high" : thinking?.enabled;
}

function toMessage({ role, text, reasoning, toolCalls, toolCallId }: Message): Fields {
  return {
    role: roleNames[role],
    content: text,
    ...(reasoning !== "" && { thinking: reasoning }),
    ...(toolCallId !== "" && { tool_call_id: toolCallId }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, argumentsJson }) => ({
        id,
        function: { name, arguments: parseArguments(argumentsJson, parseKeepingDigits) },
      })),
    }),
  };
}

function toTool(tool: Conversation["tools"][number], index: number): Fields {
  const { name, description } = tool;
  return {
    type: "function",
    function: { name, description, parameters: parseParameters(tool, index, parseKeepingDigits) },
  };
}
