import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { Effort, ThinkingType } from "#gen/tollgate/messages/v1/thinking_pb.js";

/** Translates the thinking switch. Only `thinking` switches: an effort alone turns no thinking on. */
export function toThinking(request: CreateMessageRequest): Thinking {
  switch (request.thinking?.type) {
    case ThinkingType.ENABLED:
    case ThinkingType.ADAPTIVE:
      return toDepth(lastEffort(request));
    case ThinkingType.DISABLED:
    case ThinkingType.BETWEEN_TOOLS:
      return Thinking.OFF;
    case ThinkingType.UNSPECIFIED:
    case undefined:
      return Thinking.UNSPECIFIED;
  }
}

/** The effort of the last turn that has one, else the request's. */
function lastEffort({ messages, outputConfig }: CreateMessageRequest): Effort | undefined {
  return messages.findLast((message) => message.outputConfig?.effort)?.outputConfig?.effort ?? outputConfig?.effort;
}

function toDepth(effort: Effort | undefined): Thinking {
  switch (effort) {
    case Effort.LOW:
      return Thinking.LOW;
    case Effort.MEDIUM:
      return Thinking.MEDIUM;
    case Effort.HIGH:
    case Effort.XHIGH:
      return Thinking.HIGH;
    case Effort.MAX:
      return Thinking.MAX;
    case Effort.UNSPECIFIED:
    case undefined:
      return Thinking.ON;
  }
}
