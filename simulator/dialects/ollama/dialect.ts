import { EngineError } from "../../engine-error.ts";
import { CompletionEncoder } from "../answer/completion.ts";
import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "./chat.ts";
import { errorBody, tooLong } from "./errors.ts";
import { routes } from "./routes.ts";
import { toUsage } from "./usage.ts";

/** Ollama. */
export const ollama: Dialect = {
  name: "ollama",
  anyModelName: false,
  truncates: true,
  routes,
  chat: (call) => new ChatEncoder(call),
  completion: (call) =>
    new CompletionEncoder(call, {
      fields: { system_fingerprint: "fp_ollama" },
      usage: toUsage,
      running: () => (call.request.includeUsage ? { usage: noUsage } : {}),
    }),
  embeddingUsage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
  error: errorBody,
  brokenStream: () => "",
  toolsRefused: () => new EngineError(400, "the model does not support tools"),
  overloaded: () => new EngineError(503, "server busy, please try again.  maximum pending requests exceeded"),
  loading: () => new EngineError(503, "loading model"),
  unknownModel: (id) => new EngineError(404, `model '${id}' not found`),
  inputTooLong: tooLong,
  fit(prompt, { maxTokens, truncate }, contextLength) {
    // Ollama silently leaves out the oldest messages; the simulator leaves out the oldest tokens.
    const longest = contextLength - 1;
    if (prompt.length > longest && truncate === false) {
      throw tooLong();
    }
    const kept = prompt.length > longest ? prompt.slice(-longest) : prompt;
    const room = contextLength - kept.length;
    return { prompt: kept, maxTokens: Math.min(maxTokens ?? room, room) };
  },
};

/** The usage of a text completion's chunks before the last one. */
const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
