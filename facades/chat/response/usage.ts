import { FinishReason, type Usage } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import {
  FinishReason as CoreFinishReason,
  type Usage as CoreUsage,
} from "#gen/tollgate/inference/v1/generation_event_pb.js";

/** Tokens in this surface's words. */
export function toUsage(usage: CoreUsage | undefined): Usage {
  const { inputTokens = 0n, outputTokens = 0n, reasoningTokens, cachedInputTokens = 0n } = usage ?? {};
  return {
    $typeName: "tollgate.chat.v1.Usage",
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    totalTokens: inputTokens + outputTokens,
    promptTokensDetails: { $typeName: "tollgate.chat.v1.PromptTokensDetails", cachedTokens: cachedInputTokens },
    ...(reasoningTokens !== undefined && {
      completionTokensDetails: { $typeName: "tollgate.chat.v1.CompletionTokensDetails", reasoningTokens },
    }),
  };
}

/** Why an answer ended: one of the four that every client knows, never null or empty. */
export function toFinishReason(reason: CoreFinishReason): FinishReason {
  switch (reason) {
    case CoreFinishReason.UNSPECIFIED:
    case CoreFinishReason.STOP:
      return FinishReason.STOP;
    case CoreFinishReason.LENGTH:
      return FinishReason.LENGTH;
    case CoreFinishReason.TOOL_CALLS:
      return FinishReason.TOOL_CALLS;
    case CoreFinishReason.CONTENT_FILTER:
      return FinishReason.CONTENT_FILTER;
  }
}
