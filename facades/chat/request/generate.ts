import type { CreateChatCompletionRequest } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { turnsOf } from "./conversation.ts";
import { outputBound, samplingOf, stopsOf } from "./sampling.ts";
import { thinkingOf } from "./thinking.ts";
import { toolsOf } from "./tools.ts";

/** Translates a chat request. Throws RequestError with the field's path. */
export function generateRequest(request: CreateChatCompletionRequest, requestId: string): GenerateRequest {
  const maxTokens = request.maxCompletionTokens ?? request.maxTokens;
  return {
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: {
      case: "conversation",
      value: {
        $typeName: "tollgate.inference.v1.Conversation",
        messages: turnsOf(request.messages),
        ...toolsOf(request),
      },
    },
    ...(maxTokens !== undefined && { maxOutputTokens: outputBound(maxTokens) }),
    sampling: samplingOf(request),
    thinking: thinkingOf(request),
    stopSequences: stopsOf(request.stop),
    whole: !request.stream,
  };
}
