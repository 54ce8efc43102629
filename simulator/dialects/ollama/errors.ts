// After Ollama's openai/openai.go and server/{routes,sched}.go of August 2026.
import { EngineError } from "../../engine-error.ts";

/** The error for a prompt or input that is too long when the request has `truncate: false`. */
export function tooLong(): EngineError {
  return new EngineError(400, "the input length exceeds the context length");
}

/** The body of an error answer. It is wrapped on the OpenAI routes. */
export function errorBody({ status, message }: EngineError, path: string) {
  if (!path.startsWith("/v1")) {
    return { error: message };
  }
  return { error: { message, type: toType(status), param: null, code: null } };
}

function toType(status: number): string {
  switch (status) {
    case 400:
      return "invalid_request_error";
    case 404:
      return "not_found_error";
    default:
      return "api_error";
  }
}
