import type { CreateChatCompletionRequest } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { toServiceClass } from "../service-tier.ts";
import { toTurns } from "./conversation.ts";
import { outputBound, toSampling, toStopSequences } from "./sampling.ts";
import { toThinking } from "./thinking.ts";
import { toTools } from "./tools.ts";

/** Translates a chat request. Throws RequestError with the field's path. */
export function generateRequest(
  request: CreateChatCompletionRequest,
  requestId: string,
  labels: GenerateRequest["labels"],
  session?: string,
): GenerateRequest {
  const maxTokens = request.maxCompletionTokens ?? request.maxTokens;
  return {
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: {
      case: "conversation",
      value: {
        $typeName: "tollgate.inference.v1.Conversation",
        messages: toTurns(request.messages),
        ...toTools(request),
      },
    },
    ...(maxTokens !== undefined && { maxOutputTokens: outputBound(maxTokens) }),
    sampling: toSampling(request),
    thinking: toThinking(request),
    stopSequences: toStopSequences(request.stop),
    gathered: !request.stream,
    serviceClass: toServiceClass(request.serviceTier),
    labels,
    ...(session !== undefined && { session }),
  };
}
