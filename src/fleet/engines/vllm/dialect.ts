import type { Dialect, Fields } from "../shared/chat-completions/dialect.ts";
import { thinkingFields } from "../shared/chat-completions/thinking.ts";
import { figureIn } from "../shared/inspection/told.ts";
import { readAllLabels } from "../shared/prometheus.ts";

/**
 * The tokens of one piece of an answer that nobody reads as it comes. The first and the last token come at once. What is
 * on its way to a piece is not counted yet, so a client that leaves is charged up to 15 tokens less than were made.
 */
const streamInterval = 16;

/** vLLM, by its source as of 2026 (entrypoints/openai/chat_completion, entrypoints/serve). */
export const vllm: Dialect = {
  engine: "vllm",
  reasoningField: "reasoning",
  sampling: "vllm",
  countsAsItGoes: true,
  promptFields: (request, continued) => ({
    ...thinkingFields(request, continued),
    ...(continued && { continue_final_message: true, add_generation_prompt: false }),
  }),
  fields: ({ prompt, cacheSalt, priority, gathered }) => ({
    stream_options: { include_usage: true, continuous_usage_stats: true },
    cache_salt: cacheSalt,
    priority: priority && { priority: -1, standard: 0, flex: 1 }[priority], // the lowest goes first
    ...(prompt.case === "conversation" && prompt.value.tools.length > 0
      ? // Without this, no chunk and no count comes while the tool-call parser gathers tokens. No interval: its parsers lose
        // arguments in larger pieces (https://github.com/vllm-project/vllm/issues/31501).
        { return_token_ids: true }
      : { stream_interval: gathered ? streamInterval : undefined }),
  }),
  healthPath: "/health",
  tokenize: (prompt) => ({ path: "/tokenize", body: tokenizeBody(prompt), field: "count" }),
  metrics: {
    path: "/metrics",
    names: {
      running: "vllm:num_requests_running",
      waiting: "vllm:num_requests_waiting",
      kvUsage: "vllm:kv_cache_usage_perc",
      cacheQueries: "vllm:prefix_cache_queries_total",
      cacheHits: "vllm:prefix_cache_hits_total",
    },
    kvTokens: readKvTokens,
  },
  embedBatch: 128,
  embedFormat: "base64",
};

/** The size of the KV caches of all parts of an engine together, in tokens. Undefined: a part does not report it. */
export function readKvTokens(page: string): number | undefined {
  const parts = readAllLabels(page, "vllm:cache_config_info");
  const tokens = parts.reduce(
    (sum, { num_gpu_blocks, block_size }) => sum + Number(num_gpu_blocks) * Number(block_size),
    0,
  );
  return figureIn(tokens) || undefined;
}

/** `/tokenize` takes the effort as a template variable only. */
function tokenizeBody({ reasoning_effort, ...prompt }: Fields): Fields {
  if (reasoning_effort === undefined) {
    return prompt;
  }
  return {
    ...prompt,
    chat_template_kwargs: { ...(prompt.chat_template_kwargs as Fields | undefined), reasoning_effort },
  };
}
