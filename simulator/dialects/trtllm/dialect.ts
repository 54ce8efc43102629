import { EngineError } from "../../engine-error.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "./chat.ts";
import { errorBody, promptTooLong } from "./errors.ts";
import { chatFields, completionFields } from "./fields.ts";
import { routes } from "./routes.ts";
import { toUsage } from "./usage.ts";

/** trtllm-serve of TensorRT-LLM. */
export const trtllm: Dialect = {
  name: "trtllm",
  anyModelName: true,
  truncates: false,
  chatFields,
  completionFields,
  routes,
  chat: (call) => new ChatEncoder(call),
  completion: (call) =>
    new CompletionEncoder(call, {
      choice: (_, __, last) => ({ stop_reason: last ? (call.run.output.stopSequence ?? null) : null }),
      usage: toUsage,
      running: (_, produced) => ({ usage: call.request.continuousUsage ? toUsage(call, produced) : null }),
    }),
  embeddingUsage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
  error: errorBody,
  brokenStream: () => undefined,
  overloaded: () => new EngineError(503, "The request queue is full."),
  loading: () => new EngineError(503, "Service Unavailable"),
  unknownModel: (id) => new EngineError(404, `The model \`${id}\` does not exist.`),
  inputTooLong: promptTooLong,
  fit(prompt, { maxTokens }, contextLength) {
    if (prompt.length >= contextLength) {
      throw promptTooLong(prompt.length, contextLength);
    }
    const room = contextLength - prompt.length;
    return { prompt, maxTokens: Math.min(maxTokens ?? room, room) };
  },
};
