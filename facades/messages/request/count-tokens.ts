import type { CountTokensRequest as CoreCountTokensRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { CountTokensRequest } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import { toConversation } from "./conversation.ts";

/** Translates a request to count tokens. Throws RequestError with the field's path. */
export function countTokensRequest(request: CountTokensRequest): CoreCountTokensRequest {
  return {
    $typeName: "tollgate.inference.v1.CountTokensRequest",
    model: request.model,
    conversation: toConversation(request),
  };
}
