import { EngineError } from "../../engine-error.ts";
import { listModels } from "../../http/models.ts";
import { tokenize } from "../../http/tokenize.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import { reasoningTokens } from "../answer/counts.ts";
import { event } from "../answer/sse.ts";
import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "./chat.ts";
import { errorBody, promptTooLong, sumTooLong } from "./errors.ts";
import { metrics } from "./metrics.ts";
import { serverInfo } from "./server-info.ts";
import { toUsage } from "./usage.ts";

/** SGLang. */
export const sglang: Dialect = {
  name: "sglang",
  anyModelName: true,
  truncates: false,
  routes: {
    "POST /tokenize": tokenize,
    "GET /v1/models": (exchange) =>
      listModels(exchange, ({ id, contextLength }) => ({
        owned_by: "sglang",
        root: id,
        parent: null,
        max_model_len: contextLength,
      })),
    "GET /health": ({ response }) => void response.writeHead(200).end(),
    "GET /health_generate": ({ response }) => void response.writeHead(200).end(),
    "GET /server_info": serverInfo,
    "GET /get_server_info": serverInfo,
    "GET /metrics": metrics,
  },
  chat: (call) => new ChatEncoder(call),
  completion: (call) =>
    new CompletionEncoder(call, {
      choice: (_, __, last) => ({ matched_stop: last ? (call.run.output.stopSequence ?? null) : null }),
      usage: (_, produced) => toUsage(call, produced, reasoningTokens(call)),
      running: (_, produced) => ({ usage: call.request.continuousUsage ? toUsage(call, produced, 0) : null }),
    }),
  embeddingUsage: (tokens) => ({
    prompt_tokens: tokens,
    total_tokens: tokens,
    completion_tokens: 0,
    prompt_tokens_details: null,
    reasoning_tokens: 0,
  }),
  error: errorBody,
  brokenStream: (error) => `${event({ error: errorBody(error) })}data: [DONE]\n\n`,
  overloaded: () => new EngineError(503, "The request queue is full.", { type: "ServiceUnavailableError" }),
  loading: () => new EngineError(503, "Service Unavailable", { type: "ServiceUnavailableError" }),
  unknownModel: (id) => new EngineError(404, `The model '${id}' does not exist`),
  inputTooLong: promptTooLong,
  fit(prompt, { maxTokens }, contextLength) {
    if (prompt.length >= contextLength) {
      throw promptTooLong(prompt.length, contextLength);
    }
    if (maxTokens !== undefined && prompt.length + maxTokens >= contextLength) {
      throw sumTooLong(prompt.length, maxTokens, contextLength);
    }
    return { prompt, maxTokens: maxTokens ?? contextLength - prompt.length - 1 };
  },
};
