import { type GenerateRequest, type Sampling, Thinking } from "#gen/inference/v1/inference_service_pb.js";
import { Effort, ThinkingType } from "#gen/messages/v1/message_param_pb.js";
import type { CreateMessageRequest } from "#gen/messages/v1/messages_service_pb.js";
import { conversation } from "./conversation.ts";

/** Translates a request of this surface. Throws RequestError with the field's path. */
export function generateRequest(request: CreateMessageRequest, requestId: string): GenerateRequest {
  return {
    $typeName: "inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: { case: "conversation", value: conversation(request) },
    maxOutputTokens: request.maxTokens,
    sampling: sampling(request),
    thinking: thinking(request),
    stopSequences: request.stopSequences.filter((sequence) => sequence !== ""),
  };
}

function sampling({ temperature, topP, topK }: CreateMessageRequest): Sampling {
  return {
    $typeName: "inference.v1.Sampling",
    temperature,
    topP: topP === -1 ? undefined : topP, // older clients write -1 for "not set"
    topK: topK === -1 ? 0 : topK,
  };
}

/** Only `thinking` switches; an effort alone does not make a model think that is off by default. */
function thinking(request: CreateMessageRequest): Thinking {
  switch (request.thinking?.type) {
    case ThinkingType.ENABLED:
    case ThinkingType.ADAPTIVE:
      return depth(request.outputConfig?.effort);
    case ThinkingType.DISABLED:
    case ThinkingType.BETWEEN_TOOLS:
      return Thinking.OFF;
    case ThinkingType.UNSPECIFIED:
    case undefined:
      return Thinking.UNSPECIFIED;
  }
}

function depth(effort: Effort | undefined): Thinking {
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
