import type { Dialect } from "../shared/chat-completions/dialect.ts";
import { thinkingFields } from "../shared/chat-completions/thinking.ts";
import { figureIn } from "../shared/inspection/told.ts";

/** SGLang, by its source as of 2026 (srt/entrypoints/openai/protocol.py). */
export const sglang: Dialect = {
  engine: "sglang",
  reasoningField: "reasoning_content",
  sampling: "sglang",
  countsAsItGoes: true,
  promptFields: (request, continued) => ({
    ...thinkingFields(request, continued),
    ...(continued && { continue_final_message: true }),
  }),
  fields: ({ runId, cacheSalt, priority }) => ({
    stream_options: { include_usage: true, continuous_usage_stats: true },
    rid: runId,
    cache_salt: cacheSalt,
    priority: priority && { flex: -1, standard: 0, priority: 1 }[priority], // the highest goes first
  }),
  healthPath: "/health",
  tokenize: (prompt) => ({ path: "/tokenize", body: prompt, field: "count" }),
  metrics: {
    path: "/metrics",
    names: {
      running: "sglang:num_running_reqs",
      waiting: "sglang:num_queue_reqs",
      kvUsage: "sglang:token_usage",
      cacheQueries: "sglang:prompt_tokens_total",
      cacheHits: "sglang:cached_tokens_total",
    },
  },
  kvCall: {
    paths: ["/server_info", "/get_server_info"],
    read: ({ max_total_num_tokens }) => figureIn(max_total_num_tokens) || undefined,
  },
  embedBatch: 128,
  embedFormat: "float",
};
