import type { AnswerMessage, ChatCompletion } from "#gen/tollgate/chat/v1/chat_completion_answer_pb.js";
import { ServiceTier } from "#gen/tollgate/chat/v1/service_tier_pb.js";
import type { Answer } from "../../http/core/answer.ts";
import { toServiceTier } from "../service-tier.ts";
import type { Head } from "./head.ts";
import { toFinishReason, toUsage } from "./usage.ts";

/** A complete answer in this surface's format. */
export function chatCompletion(
  head: Head,
  answer: Answer,
  options: { readonly hideReasoning: boolean; readonly withLots?: boolean; readonly tellsTier?: boolean },
): ChatCompletion {
  return {
    $typeName: "tollgate.chat.v1.ChatCompletion",
    ...head,
    object: "chat.completion",
    choices: [
      {
        $typeName: "tollgate.chat.v1.ChatChoice",
        index: 0,
        message: toMessage(answer, options.hideReasoning),
        finishReason: toFinishReason(answer.finishReason),
      },
    ],
    usage: toUsage(answer.usage, options.withLots),
    serviceTier: options.tellsTier ? toServiceTier(answer.serviceClass) : ServiceTier.UNSPECIFIED,
  };
}

function toMessage({ text, reasoning, toolCalls }: Answer, hideReasoning: boolean): AnswerMessage {
  return {
    $typeName: "tollgate.chat.v1.AnswerMessage",
    role: "assistant",
    ...((text !== "" || toolCalls.length === 0) && { content: text }),
    ...(reasoning !== "" && !hideReasoning && { reasoning }),
    toolCalls: toolCalls.map((call) => ({
      $typeName: "tollgate.chat.v1.ToolCall",
      id: call.id,
      type: "function",
      function: { $typeName: "tollgate.chat.v1.FunctionCall", name: call.name, arguments: call.arguments },
    })),
  };
}
