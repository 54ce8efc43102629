import type { Dialect, Fields } from "../shared/chat-completions/dialect.ts";
import { thinkingFields } from "../shared/chat-completions/thinking.ts";
import type { WireUsage } from "../shared/chat-completions/usage.ts";
import { countIn } from "../shared/counts.ts";
import { fieldsIn, figureIn } from "../shared/inspection/told.ts";

/**
 * llama-server, by its source as of 2026 (tools/server/server-task.cpp). Its prefix cache takes no salt, so that
 * accounts cannot be separated in it.
 */
export const llamaCpp: Dialect = {
  engine: "llama.cpp",
  reasoningField: "reasoning_content",
  sampling: "llama.cpp",
  countsAsItGoes: true,
  mayRepeatPrefill: true,
  promptFields: (request, continued) => ({
    ...thinkingFields(request),
    // llama-server continues a last assistant turn by itself, but refuses to do so while thinking.
    ...(continued && { chat_template_kwargs: { thinking: false, enable_thinking: false } }),
  }),
  fields: () => ({ stream_options: { include_usage: true }, timings_per_token: true }),
  readUsage: ({ timings }) =>
    typeof timings === "object" && timings !== null ? toUsage(timings as Timings) : undefined,
  healthPath: "/health",
  tokenize: ({ prompt, ...chat }) =>
    prompt === undefined
      ? { path: "/v1/chat/completions/input_tokens", body: chat, field: "input_tokens" }
      : { path: "/tokenize", body: { content: prompt, add_special: true }, field: "tokens" },
  metrics: {
    path: "/metrics",
    names: { running: "llamacpp:requests_processing", waiting: "llamacpp:requests_deferred" },
  },
  kvCall: {
    paths: ["/props"],
    read: ({ total_slots, default_generation_settings }) =>
      figureIn(Number(figureIn(total_slots)) * Number(figureIn(fieldsIn(default_generation_settings).n_ctx))) ||
      undefined,
  },
  embedBatch: 32,
  embedFormat: "base64",
};

/** Counts since the request began: prompt tokens found in the cache, prompt tokens read, and tokens produced. */
interface Timings {
  readonly cache_n?: unknown;
  readonly prompt_n?: unknown;
  readonly predicted_n?: unknown;
}

function toUsage({ cache_n = 0, prompt_n, predicted_n }: Timings): WireUsage & Fields {
  const [cached, read] = [countIn(cache_n), countIn(prompt_n)];
  return {
    prompt_tokens: cached === undefined || read === undefined ? prompt_n : cached + read,
    completion_tokens: predicted_n,
    prompt_tokens_details: { cached_tokens: cache_n },
  };
}
