import type { ContentBlock, Message } from "#gen/tollgate/messages/v1/message_pb.js";
import type { Answer } from "../../http/core/answer.ts";
import { toUsedTier } from "../service-tier.ts";
import { caller } from "./block.ts";
import { messageId, thinkingSignature } from "./identity.ts";
import { toStopReason, toUsage } from "./usage.ts";

/**
 * A complete answer as this surface's message: thinking, then text, then tool calls. `tellsTier`: includes the tier in
 * which it ran.
 */
export function toMessage(answer: Answer, model: string, requestId: string, tellsTier = false): Message {
  return {
    $typeName: "tollgate.messages.v1.Message",
    id: messageId(requestId),
    type: "message",
    role: "assistant",
    model,
    content: toBlocks(answer),
    stopReason: toStopReason(answer.finishReason),
    usage: { ...toUsage(answer.usage), ...(tellsTier && { serviceTier: toUsedTier(answer.serviceClass) }) },
  };
}

function toBlocks({ reasoning, text, toolCalls }: Answer): ContentBlock[] {
  const blocks: ContentBlock["block"][] = [];
  if (reasoning !== "") {
    const value = {
      $typeName: "tollgate.messages.v1.ThinkingBlock",
      thinking: reasoning,
      signature: thinkingSignature,
    } as const;
    blocks.push({ case: "thinking", value });
  }
  if (text !== "") {
    blocks.push({ case: "text", value: { $typeName: "tollgate.messages.v1.TextBlock", text } });
  }
  for (const { id, name, arguments: input } of toolCalls) {
    const value = { $typeName: "tollgate.messages.v1.ToolUseBlock", id, name, input: asObject(input), caller } as const;
    blocks.push({ case: "toolUse", value });
  }
  return blocks.map((block) => ({ $typeName: "tollgate.messages.v1.ContentBlock", block }));
}

/** The arguments where they are an object, otherwise an empty object: clients expect one, whatever the model wrote. */
function asObject(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? input : "{}";
  } catch {
    return "{}"; // none, cut short by the output limit, or the model's mistake
  }
}
