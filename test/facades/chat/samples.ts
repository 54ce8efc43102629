import { CreateChatCompletionRequestSchema } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { generateRequest } from "../../../facades/chat/request/generate.ts";
import { jsonDecoder } from "../../../facades/http/json/decoder.ts";
import { RequestError } from "../../../facades/http/request/error.ts";

const decode = jsonDecoder(CreateChatCompletionRequestSchema);

/** A chat request's body with these fields beside the required ones. */
export function chatBody(more: object = {}): object {
  return { model: "m", messages: [{ role: "user", content: "hi" }], ...more };
}

/** What a body asks the core for. */
export function translated(body: object): GenerateRequest {
  return generateRequest(decode(body), "req_1", {});
}

/** What is refused of a body, by decoder or translator: "path: message". */
export function refusalOf(body: object): string {
  try {
    translated(body);
  } catch (error) {
    if (error instanceof RequestError) {
      return `${error.status} ${error.param}: ${error.message}`;
    }
    throw error;
  }
  throw new Error("nothing was refused");
}
