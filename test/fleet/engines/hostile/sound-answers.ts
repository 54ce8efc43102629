import type { EngineName } from "#lib/inference/engine-names.ts";

// What sound servers answer, by engine and path, with a place for every part that is read: each of them becomes a lie.

const chatChunks = [
  {
    choices: [{ index: 0, delta: { content: "no", reasoning: "so" }, finish_reason: null }],
    usage: { prompt_tokens: 90, completion_tokens: 1 },
    timings: { cache_n: 80, prompt_n: 10, predicted_n: 1 },
  },
  {
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
    usage: { prompt_tokens: 90, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 80 } },
  },
];
const models = { data: [{ id: "m", max_model_len: 4096, meta: { n_ctx: 4096 } }] };
const openAi = { "/health": {}, "/v1/models": models, "/v1/chat/completions": chatChunks };
const metrics =
  'vllm:num_requests_running 0\nvllm:cache_config_info{block_size="16",num_gpu_blocks="100",enable_prefix_caching="True"} 1\nllamacpp:requests_processing 0\ntrtllm_num_requests_running 0\nte_queue_size 0\n';

/** What each path answers; a list is a stream of chunks. */
export type Sound = Readonly<Record<string, unknown>>;

/** An engine, the kind of its model, and its answers. */
export const sounds: readonly (readonly [EngineName, "generation" | "embedding", Sound])[] = [
  ["vllm", "generation", { ...openAi, "/version": { version: "0.28.0" }, "/metrics": metrics }],
  [
    "sglang",
    "generation",
    {
      ...openAi,
      "/server_info": {
        version: "0.5.9",
        context_length: 4096,
        max_running_requests: 8,
        max_total_num_tokens: 500_000,
        disable_radix_cache: false,
        tool_call_parser: "qwen25",
        reasoning_parser: "qwen3",
        enable_metrics: true,
        allow_auto_truncate: false,
      },
    },
  ],
  [
    "llama.cpp",
    "generation",
    {
      ...openAi,
      "/props": { total_slots: 8, build_info: "b9000", default_generation_settings: { n_ctx: 4096 } },
      "/metrics": metrics,
    },
  ],
  ["trtllm", "generation", { ...openAi, "/version": { version: "1.2.0" }, "/prometheus/metrics": metrics }],
  ["openai", "generation", openAi],
  [
    "ollama",
    "generation",
    {
      "/api/version": { version: "0.17.4" },
      "/api/tags": { models: [{ name: "m" }] },
      "/api/show": { capabilities: ["completion", "tools"], model_info: { "qwen3.context_length": 4096 } },
      "/api/ps": { models: [{ name: "m", context_length: 4096 }] },
    },
  ],
  [
    "vllm",
    "embedding",
    {
      ...openAi,
      "/v1/embeddings": { data: [{ index: 0, embedding: [0.5, 0.5, 0.5, 0.5] }], usage: { prompt_tokens: 5 } },
      "/tokenize": { count: 5 },
    },
  ],
  [
    "ollama",
    "embedding",
    {
      "/api/version": { version: "0.17.4" },
      "/api/tags": { models: [{ name: "m" }] },
      "/api/show": { capabilities: ["embedding"], model_info: { "bert.context_length": 4096 } },
      "/api/ps": { models: [] },
      "/api/embed": { embeddings: [[0.5, 0.5, 0.5, 0.5]], prompt_eval_count: 5 },
    },
  ],
  [
    "tei",
    "embedding",
    {
      "/info": {
        version: "1.9.3",
        model_id: "m",
        max_input_length: 4096,
        max_batch_tokens: 16_384,
        max_concurrent_requests: 512,
        max_client_batch_size: 32,
        auto_truncate: false,
      },
      "/health": {},
      "/metrics": metrics,
      "/embed": [[0.5, 0.5, 0.5, 0.5]],
      "/tokenize": [[1, 2, 3]],
    },
  ],
];
