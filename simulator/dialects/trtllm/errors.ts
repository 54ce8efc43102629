// After TensorRT-LLM's llmapi/llm.py and serve/openai_server.py of 2026.
import { EngineError } from "../../engine-error.ts";

/** The error for a prompt that fills the context. */
export function promptTooLong(tokens: number, contextLength: number): EngineError {
  return new EngineError(
    400,
    `The sum of prompt length (${tokens}.0), query length (0) should not exceed max_num_tokens (${contextLength})`,
  );
}

/** The body of an error answer. It is flat; for an invalid request it is one string. */
export function errorBody({ status, message, facts }: EngineError) {
  if (facts.type === "validation") {
    return { error: message };
  }
  const type = facts.type ?? (status < 500 ? "BadRequestError" : "InternalServerError");
  return { object: "error", message, type, param: facts.param ?? null, code: status };
}
