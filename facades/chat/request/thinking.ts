import type { CreateChatCompletionRequest } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import { ReasoningEffort, ThinkingType } from "#gen/tollgate/chat/v1/thinking_pb.js";
import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";

/** Maps all ways to ask for thinking to one switch. The most specific field that was sent wins. */
export function toThinking({
  reasoningEffort,
  reasoning,
  thinking,
  chatTemplateKwargs,
  enableThinking,
}: CreateChatCompletionRequest): Thinking {
  return (
    toDepth(reasoningEffort) ||
    toDepth(reasoning?.effort) ||
    toSwitch(reasoning?.enabled ?? ((reasoning?.maxTokens ?? 0) > 0 || undefined)) ||
    toSwitch(thinking && thinking.type === ThinkingType.ENABLED) ||
    toDepth(chatTemplateKwargs?.reasoningEffort) ||
    toSwitch(chatTemplateKwargs?.enableThinking ?? chatTemplateKwargs?.thinking ?? enableThinking)
  );
}

function toSwitch(on: boolean | undefined): Thinking {
  if (on === undefined) {
    return Thinking.UNSPECIFIED;
  }
  return on ? Thinking.ON : Thinking.OFF;
}

function toDepth(effort: ReasoningEffort | undefined): Thinking {
  switch (effort) {
    case undefined:
    case ReasoningEffort.UNSPECIFIED:
      return Thinking.UNSPECIFIED;
    case ReasoningEffort.NONE:
      return Thinking.OFF;
    case ReasoningEffort.MINIMAL:
    case ReasoningEffort.LOW:
      return Thinking.LOW;
    case ReasoningEffort.MEDIUM:
      return Thinking.MEDIUM;
    case ReasoningEffort.HIGH:
    case ReasoningEffort.XHIGH:
      return Thinking.HIGH;
    case ReasoningEffort.MAX:
      return Thinking.MAX;
  }
}
