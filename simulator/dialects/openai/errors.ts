import { EngineError } from "../../engine-error.ts";

/** The error for a prompt and answer that do not fit the context. */
export function contextExceeded(tokens: number, asked: number, contextLength: number): EngineError {
  return new EngineError(
    400,
    `This model's maximum context length is ${contextLength} tokens. However, you requested ${tokens + asked} tokens ` +
      `(${tokens} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`,
    { param: "messages", extra: { code: "context_length_exceeded" } },
  );
}

/** The body of an error answer. */
export function errorBody({ status, message, facts }: EngineError) {
  const type = facts.type ?? (status < 500 ? "invalid_request_error" : "server_error");
  return { error: { message, type, param: facts.param ?? null, code: null, ...facts.extra } };
}
