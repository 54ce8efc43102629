import type { GenerateRequest, Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { toServiceClass } from "../service-tier.ts";
import { toConversation } from "./conversation.ts";
import { toThinking } from "./thinking.ts";

/** Translates a request of this surface. Throws RequestError with the field's path. */
export function generateRequest(
  request: CreateMessageRequest,
  requestId: string,
  labels: GenerateRequest["labels"],
  session?: string,
): GenerateRequest {
  return {
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: { case: "conversation", value: toConversation(request) },
    maxOutputTokens: request.maxTokens,
    sampling: toSampling(request),
    thinking: toThinking(request),
    stopSequences: request.stopSequences.filter((sequence) => sequence !== ""),
    gathered: !request.stream,
    serviceClass: toServiceClass(request.serviceTier),
    labels,
    ...(session !== undefined && { session }),
  };
}

function toSampling({ temperature, topP, topK }: CreateMessageRequest): Sampling {
  return {
    $typeName: "tollgate.inference.v1.Sampling",
    temperature,
    topP,
    topK: topK === -1 ? 0 : topK,
  };
}
