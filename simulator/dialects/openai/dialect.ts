import { EngineError } from "../../engine-error.ts";
import { listModels } from "../../http/models.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import { event } from "../answer/sse.ts";
import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "./chat.ts";
import { contextExceeded, errorBody } from "./errors.ts";
import { toUsage } from "./usage.ts";

/** A server of the plain API only: without tokenizer, metrics and health. */
export const openai: Dialect = {
  name: "openai",
  anyModelName: false,
  truncates: false,
  routes: { "GET /v1/models": (exchange) => listModels(exchange, () => ({ owned_by: "simulated" })) },
  chat: (call) => new ChatEncoder(call, { usageOnFinish: false, done: true }),
  completion: (call) => new CompletionEncoder(call, { usage: toUsage }),
  embeddingUsage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
  error: errorBody,
  brokenStream: (error) => event(errorBody(error)),
  overloaded: () =>
    new EngineError(429, "The engine is currently overloaded, please try again later", { retryAfter: 1 }),
  loading: () => new EngineError(503, "The engine is starting"),
  unknownModel: (id) =>
    new EngineError(404, `The model \`${id}\` does not exist or you do not have access to it.`, {
      extra: { code: "model_not_found" },
    }),
  inputTooLong: (tokens, limit) => contextExceeded(tokens, 0, limit),
  fit(prompt, { maxTokens }, contextLength) {
    if (prompt.length + (maxTokens ?? 1) > contextLength) {
      throw contextExceeded(prompt.length, maxTokens ?? 0, contextLength);
    }
    return { prompt, maxTokens: maxTokens ?? contextLength - prompt.length };
  },
};
