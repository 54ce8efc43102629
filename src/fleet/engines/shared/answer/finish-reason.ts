import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";

/**
 * Why an answer ended, in our terms. Engines report "stop" after a named tool call, and "tool_calls" without any call,
 * so that the answer itself decides between these two. Undefined: the engine broke off.
 */
export function finishReason(reason: string, calledTools: boolean): FinishReason | undefined {
  switch (reason) {
    case "stop":
    case "eos":
    case "eos_token":
    case "stop_sequence":
    case "tool_calls":
    case "function_call":
    case "":
      return calledTools ? FinishReason.TOOL_CALLS : FinishReason.STOP;
    case "length":
    case "max_tokens":
      return FinishReason.LENGTH;
    case "content_filter":
      return FinishReason.CONTENT_FILTER;
    default:
      return undefined; // "abort", "error" and unknown reasons: the engine broke off
  }
}
