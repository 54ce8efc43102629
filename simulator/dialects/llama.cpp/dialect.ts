import { EngineError } from "../../engine-error.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import { event } from "../answer/sse.ts";
import type { Dialect } from "../dialect.ts";
import { buildInfo, ChatEncoder } from "./chat.ts";
import { errorBody, inputTooLong, promptTooLong } from "./errors.ts";
import { routes } from "./routes.ts";
import { toTimings, toUsage } from "./usage.ts";

/** llama-server of llama.cpp. */
export const llamaCpp: Dialect = {
  name: "llama.cpp",
  anyModelName: true,
  truncates: false,
  routes,
  chat: (call) => new ChatEncoder(call),
  completion: (call) =>
    new CompletionEncoder(call, {
      fields: { system_fingerprint: buildInfo },
      usage: toUsage,
      running: (_, produced) => {
        const ends = produced === call.run.output.length;
        return call.request.timings || ends ? { timings: toTimings(call, produced) } : {};
      },
    }),
  embeddingUsage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
  error: errorBody,
  brokenStream: (error) => event(errorBody(error)),
  toolsRefused: () => new EngineError(500, "tools param requires --jinja flag"),
  overloaded: () => new EngineError(503, "Server is busy", { type: "unavailable_error" }),
  loading: () => new EngineError(503, "Loading model", { type: "unavailable_error" }),
  unknownModel: (id) => new EngineError(404, `model not found: ${id}`),
  inputTooLong,
  fit(prompt, { maxTokens }, contextLength) {
    if (prompt.length >= contextLength) {
      throw promptTooLong(prompt.length, contextLength);
    }
    // A maximum beyond the context is not refused: the answer ends at the context.
    const room = contextLength - prompt.length;
    return { prompt, maxTokens: Math.min(maxTokens ?? room, room) };
  },
};
