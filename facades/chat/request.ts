import type { CreateChatCompletionRequest } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { invalidField } from "../http/request/error.ts";
import { turnsOf } from "./conversation.ts";
import { outputBound, samplingOf, stopsOf } from "./sampling.ts";
import { thinkingOf } from "./thinking.ts";
import { toolsOf } from "./tools.ts";

/** Translates a chat request. Throws RequestError with the field's path. */
export function generateRequest(request: CreateChatCompletionRequest, requestId: string): GenerateRequest {
  refuseOtherForms(request);
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

/** Silent prose would be worse than an error for a client that parses the answer. */
function refuseOtherForms({ responseFormat, modalities }: CreateChatCompletionRequest): void {
  if (responseFormat !== undefined && responseFormat.type !== "text") {
    throw invalidField(
      "response_format.type",
      'must be "text": JSON mode and structured outputs are not available on this service',
    );
  }
  const other = modalities.findIndex((modality) => modality !== "text");
  if (other !== -1) throw invalidField(`modalities[${other}]`, 'must be "text": this service answers in text only');
}
