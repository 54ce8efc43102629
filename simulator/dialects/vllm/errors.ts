// After vLLM's renderers/params.py and exceptions.py of 2026.
import { EngineError } from "../../engine-error.ts";

/** The error for `max_tokens` above the whole context. The missing space is vLLM's. */
export function outputTooLong(field: string, asked: number, contextLength: number): EngineError {
  const message =
    `${field}=${asked}cannot be greater than max_model_len=max_total_tokens=${contextLength}. ` +
    `Please request fewer output tokens. (parameter=${field}, value=${asked})`;
  return new EngineError(400, message, { param: field });
}

/**
 * The error for a prompt that leaves no room for the requested tokens. vLLM stops counting one token past the limit.
 */
export function promptTooLong(tokens: number, asked: number, contextLength: number): EngineError {
  const room = contextLength - asked;
  const counted = Math.min(tokens, room + 1);
  const message =
    `You passed ${counted} input tokens and requested ${asked} output tokens. However, the model's context ` +
    `length is only ${contextLength} tokens, resulting in a maximum input length of ${room} tokens. ` +
    `Please reduce the length of the input prompt. (parameter=input_tokens, value=${counted})`;
  return new EngineError(400, message, { param: "input_tokens" });
}

/** The body of an error answer. */
export function errorBody({ status, message, facts: { type, param } }: EngineError) {
  return { error: { message, type: type ?? toType(status), param: param ?? null, code: status } };
}

function toType(status: number): string {
  switch (status) {
    case 401:
      return "Unauthorized";
    case 404:
      return "NotFoundError";
    case 503:
      return "ServiceUnavailableError";
    default:
      return status < 500 ? "BadRequestError" : "InternalServerError";
  }
}
