import type { Conversation, Message } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { EngineThinking } from "../interface.ts";
import { engineRefused } from "../shared/faults.ts";
import { parseArguments } from "../shared/prompt/call-arguments.ts";
import { roleNames } from "../shared/prompt/role-names.ts";
import { parseParameters } from "../shared/prompt/tool-parameters.ts";
import { toTurns } from "../shared/prompt/turns.ts";
import type { Template } from "./binding.ts";
import { callOpening, demandedTools, offeredTools } from "./tools.ts";

/** The values that a template gets beside the turns. */
export interface TemplateSettings {
  readonly systemAnywhere: boolean;
  readonly bosToken: string | null;
  readonly eosToken: string | null;
}

/** Renders a conversation's prompt. Throws INVALID_ARGUMENT when the template refuses the conversation. */
export function renderPrompt(
  template: Template,
  conversation: Conversation,
  thinking: EngineThinking | undefined,
  settings: TemplateSettings,
): string {
  const { turns, continued } = toTurns(conversation.messages, settings.systemAnywhere);
  const tools = offeredTools(conversation);
  let prompt: string;
  try {
    prompt = template.render({
      messages: turns.map(toMessage),
      tools: tools.length === 0 ? undefined : tools.map(toTool),
      add_generation_prompt: !continued,
      bos_token: settings.bosToken ?? "",
      eos_token: settings.eosToken ?? "",
      ...(thinking !== undefined && { enable_thinking: thinking.enabled, thinking: thinking.enabled }),
    });
  } catch (error) {
    throw engineRefused(
      `the chat template refused the conversation: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (demandedTools(conversation).length > 0) {
    return prompt + callOpening;
  }
  return continued ? cutBehind(prompt, turns.at(-1)?.text ?? "") : prompt;
}

/** Cuts off what the template adds after the text of a last turn that is to be continued. */
function cutBehind(prompt: string, text: string): string {
  const trimmed = text.trim();
  const at = prompt.lastIndexOf(trimmed);
  return at === -1 ? prompt : prompt.slice(0, at + trimmed.length);
}

function toMessage(message: Message) {
  return {
    role: roleNames[message.role],
    content: message.text,
    ...(message.reasoning !== "" && { reasoning_content: message.reasoning }),
    ...(message.toolCallId !== "" && { tool_call_id: message.toolCallId }),
    ...(message.toolCalls.length > 0 && {
      tool_calls: message.toolCalls.map(({ id, name, argumentsJson }) => ({
        id,
        type: "function",
        // Templates iterate over the arguments, so they get the object and not its text.
        function: { name, arguments: parseArguments(argumentsJson, JSON.parse) },
      })),
    }),
  };
}

function toTool(tool: Conversation["tools"][number], index: number) {
  const { name, description } = tool;
  return { type: "function", function: { name, description, parameters: parseParameters(tool, index, JSON.parse) } };
}
