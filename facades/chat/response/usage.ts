import { FinishReason } from "#gen/tollgate/chat/v1/chat_completion_answer_pb.js";
import type { CostDetails, Usage } from "#gen/tollgate/chat/v1/usage_pb.js";
import {
  FinishReason as CoreFinishReason,
  type Usage as CoreUsage,
  type LotCost,
} from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { usdAmount } from "../../http/json/decimal.ts";

/** Tokens and cost in this surface's format. `withLots`: with what each lot paid. */
export function toUsage(usage: CoreUsage | undefined, withLots = false): Usage {
  const { inputTokens = 0n, outputTokens = 0n, reasoningTokens, cachedInputTokens = 0n, costPicoUsd } = usage ?? {};
  return {
    $typeName: "tollgate.chat.v1.Usage",
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    totalTokens: inputTokens + outputTokens,
    promptTokensDetails: { $typeName: "tollgate.chat.v1.PromptTokensDetails", cachedTokens: cachedInputTokens },
    cost: costPicoUsd === undefined ? "" : usdAmount(costPicoUsd),
    ...(withLots && { costDetails: toCostDetails(usage?.lots ?? []) }),
    ...(reasoningTokens !== undefined && {
      completionTokensDetails: { $typeName: "tollgate.chat.v1.CompletionTokensDetails", reasoningTokens },
    }),
  };
}

function toCostDetails(lots: readonly LotCost[]): CostDetails {
  return {
    $typeName: "tollgate.chat.v1.CostDetails",
    lots: lots.map(({ lotId, costPicoUsd }) => ({
      $typeName: "tollgate.chat.v1.LotCost",
      lotId,
      cost: usdAmount(costPicoUsd),
    })),
  };
}

/** Why an answer ended: one of the four reasons that every client knows, never null or empty. */
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
