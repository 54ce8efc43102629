// After SGLang's managers/tokenizer_manager.py and entrypoints/openai/serving_base.py of 2026.
import { EngineError } from "../../engine-error.ts";

/** The error for a prompt that fills the context by itself. */
export function promptTooLong(tokens: number, contextLength: number): EngineError {
  return new EngineError(
    400,
    `The input (${tokens} tokens) is longer than the model's context length (${contextLength} tokens).`,
  );
}

/** The error for a prompt and answer that together reach the context. */
export function sumTooLong(tokens: number, asked: number, contextLength: number): EngineError {
  return new EngineError(
    400,
    `Requested token count exceeds the model's maximum context length of ${contextLength} tokens. ` +
      `You requested a total of ${tokens + asked} tokens: ${tokens} tokens from the input messages and ${asked} tokens ` +
      "for the completion. Please reduce the number of tokens in the input messages or the completion to fit within " +
      "the limit.",
  );
}

/** The flat body of an error answer. */
export function errorBody({ status, message, facts }: EngineError) {
  const type = facts.type ?? (status < 500 ? "BadRequestError" : "InternalServerError");
  return { object: "error", message, type, param: facts.param ?? null, code: status };
}
