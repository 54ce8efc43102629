import { EngineError } from "../../engine-error.ts";
import { listModels } from "../../http/models.ts";
import { sendJson } from "../../http/reply.ts";
import { tokenize } from "../../http/tokenize.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import { event } from "../answer/sse.ts";
import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "./chat.ts";
import { completionStyle } from "./completion.ts";
import { errorBody, outputTooLong, promptTooLong } from "./errors.ts";
import { metrics } from "./metrics.ts";

/** vLLM. */
export const vllm: Dialect = {
  name: "vllm",
  anyModelName: false,
  truncates: false,
  routes: {
    "POST /tokenize": tokenize,
    "GET /v1/models": (exchange) =>
      listModels(exchange, ({ id, contextLength }) => ({
        owned_by: "vllm",
        root: id,
        parent: null,
        max_model_len: contextLength,
        permission: [],
      })),
    "GET /health": ({ response }) => void response.writeHead(200).end(),
    "GET /version": ({ response }) => sendJson(response, 200, { version: "0.28.0" }),
    "GET /metrics": metrics,
  },
  chat: (call) => new ChatEncoder(call),
  completion: (call) => new CompletionEncoder(call, completionStyle),
  embeddingUsage: (tokens) => ({
    prompt_tokens: tokens,
    total_tokens: tokens,
    completion_tokens: 0,
    prompt_tokens_details: null,
  }),
  error: errorBody,
  brokenStream: (error) => `${event(errorBody(error))}data: [DONE]\n\n`,
  toolsRefused: () =>
    new EngineError(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
  overloaded: () => new EngineError(503, "The server is overloaded, please retry later."),
  loading: () => new EngineError(503, "Service Unavailable"),
  unknownModel: (id) => new EngineError(404, `The model \`${id}\` does not exist.`, { param: "model" }),
  inputTooLong: (tokens, limit) => promptTooLong(tokens, 0, limit),
  fit(prompt, { maxTokens, maxTokensField }, contextLength) {
    const asked = maxTokens ?? 0;
    if (asked > contextLength) {
      throw outputTooLong(maxTokensField, asked, contextLength);
    }
    if (prompt.length > contextLength - asked || prompt.length === contextLength) {
      throw promptTooLong(prompt.length, asked, contextLength);
    }
    return { prompt, maxTokens: maxTokens ?? contextLength - prompt.length };
  },
};
