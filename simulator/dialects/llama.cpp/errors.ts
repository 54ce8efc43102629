// After llama.cpp's tools/server/{server-context,server-task}.cpp of 2026.
import { EngineError } from "../../engine-error.ts";

/** The error for a prompt that fills the context. */
export function promptTooLong(tokens: number, contextLength: number): EngineError {
  return new EngineError(
    400,
    `request (${tokens} tokens) exceeds the available context size (${contextLength} tokens), try increasing it`,
    { type: "exceed_context_size_error", extra: { n_prompt_tokens: tokens, n_ctx: contextLength } },
  );
}

/** The error for an embedding input that is too long. The status is 500, although the request is at fault. */
export function inputTooLong(tokens: number, limit: number): EngineError {
  return new EngineError(
    500,
    `input (${tokens} tokens) is too large to process. increase the physical batch size (current batch size: ${limit})`,
  );
}

/** The body of an error answer. */
export function errorBody({ status, message, facts }: EngineError) {
  return { error: { code: status, message, type: facts.type ?? toType(status), ...facts.extra } };
}

function toType(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 503:
      return "unavailable_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}
