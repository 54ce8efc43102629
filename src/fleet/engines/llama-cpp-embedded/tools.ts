import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Conversation, type Tool, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { parseParameters } from "../shared/prompt/tool-parameters.ts";
import type { Llama } from "./binding.ts";

/** Opens a tool call. A prompt that demands a call ends with it. */
export const callOpening = "<tool_call>\n";

/** Whether a chat template shows tools and writes calls as JSON between tags, the only form that we can read. */
export function takesTools(template: string): boolean {
  const otherFormats = ["<function=", "<arg_key>"];
  return (
    /\btools\b/.test(template) &&
    template.includes("<tool_call>") &&
    !otherFormats.some((mark) => template.includes(mark))
  );
}

/** The tools that the model is shown: none where the request forbids calls. */
export function offeredTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  return toolChoice?.mode === ToolChoiceMode.NONE ? [] : tools;
}

/** The tools of which the model must call one. Empty: it may answer without a call. */
export function demandedTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  switch (toolChoice?.mode) {
    case ToolChoiceMode.REQUIRED:
      return tools;
    case ToolChoiceMode.NAMED:
      return tools.filter(({ name }) => name === toolChoice.name);
    default:
      return [];
  }
}

/** Throws INVALID_ARGUMENT for tools that the template ignores, or whose calls we cannot read. */
export function checkTools(conversation: Conversation, supported: boolean): void {
  if (supported || offeredTools(conversation).length === 0) {
    return;
  }
  const parameter = "conversation.tools";
  throw failure(Reason.INVALID_ARGUMENT, "This model takes no tools: its chat template has no place for them.", {
    parameter,
  });
}

/** The grammar of a call of one of the tools. A schema that the grammar cannot express leaves the arguments free. */
export async function toGrammar(llama: Llama, tools: readonly Tool[]) {
  const call = (tool: Tool, parameters: unknown) => ({
    type: "object",
    properties: { name: { const: tool.name }, arguments: parameters },
  });
  const open = { type: "object", additionalProperties: true };
  try {
    return await llama.createGrammarForJsonSchema({
      oneOf: tools.map((tool, index) => call(tool, closed(parseParameters(tool, index, JSON.parse)))),
    });
  } catch {
    return await llama.createGrammarForJsonSchema({ oneOf: tools.map((tool) => call(tool, open)) });
  }
}

/** Lets an object without declared properties have any. */
function closed(schema: unknown): unknown {
  const { properties } = (schema ?? {}) as { properties?: object };
  return properties === undefined ? { type: "object", additionalProperties: true } : schema;
}
