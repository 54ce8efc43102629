import { type Usage as CoreUsage, FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { StopReason, type Usage } from "#gen/tollgate/messages/v1/message_pb.js";
import { UsedServiceTier } from "#gen/tollgate/messages/v1/service_tier_pb.js";
import { usdAmount } from "../../http/json/decimal.ts";

/** The billed usage in this surface's format. Cached input counts as input, since it is billed as input. */
export function toUsage(counted: CoreUsage | undefined): Usage {
  const shown = inputUsage(counted?.inputTokens ?? 0n);
  shown.outputTokens = counted?.outputTokens ?? 0n;
  if (counted?.costPicoUsd !== undefined) {
    shown.cost = usdAmount(counted.costPicoUsd);
  }
  if (counted?.reasoningTokens !== undefined) {
    shown.outputTokensDetails = {
      $typeName: "tollgate.messages.v1.OutputTokensDetails",
      thinkingTokens: counted.reasoningTokens,
    };
  }
  return shown;
}

/** The counts before any output. Output is 0, since some clients add the final count to this one. */
export function inputUsage(inputTokens: bigint): Usage {
  return {
    $typeName: "tollgate.messages.v1.Usage",
    inputTokens,
    cacheCreationInputTokens: 0n,
    cacheReadInputTokens: 0n,
    outputTokens: 0n,
    cost: "",
    serviceTier: UsedServiceTier.UNSPECIFIED,
  };
}

/** Why an answer ended, in this surface's terms. */
export function toStopReason(reason: FinishReason): StopReason {
  switch (reason) {
    case FinishReason.STOP:
      return StopReason.END_TURN; // for a stop sequence, too, by the interface
    case FinishReason.LENGTH:
      return StopReason.MAX_TOKENS; // even in the middle of a tool call
    case FinishReason.TOOL_CALLS:
      return StopReason.TOOL_USE;
    case FinishReason.CONTENT_FILTER:
      return StopReason.REFUSAL;
    case FinishReason.UNSPECIFIED:
      return StopReason.END_TURN; // a newer core's reason: the answer is complete in any case
  }
}
