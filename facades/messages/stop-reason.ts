import { FinishReason } from "#gen/inference/v1/generation_event_pb.js";
import { StopReason } from "#gen/messages/v1/message_pb.js";

/** Why an answer ended, in this surface's words. */
export function stopReason(reason: FinishReason): StopReason {
  switch (reason) {
    case FinishReason.STOP:
      return StopReason.END_TURN; // a stop sequence too, by the interface
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
