import type { Usage as CoreUsage } from "#gen/inference/v1/generation_event_pb.js";
import type { Usage } from "#gen/messages/v1/message_pb.js";

/** What is billed, in this surface's words. Cached input counts as input: it is billed as such. */
export function usage(counted: CoreUsage | undefined): Usage {
  const shown = inputUsage(counted?.inputTokens ?? 0);
  shown.outputTokens = counted?.outputTokens ?? 0;
  if (counted?.reasoningTokens !== undefined) {
    shown.outputTokensDetails = {
      $typeName: "messages.v1.OutputTokensDetails",
      thinkingTokens: counted.reasoningTokens,
    };
  }
  return shown;
}

/** The counts before any output. Output is 0, since some clients add the final count to this one. */
export function inputUsage(inputTokens: number): Usage {
  return {
    $typeName: "messages.v1.Usage",
    inputTokens,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
    outputTokens: 0,
  };
}
