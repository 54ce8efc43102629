import type { Dialect, Fields, ThinkingRequest } from "../shared/chat-completions/dialect.ts";
import { thinkingFields } from "../shared/chat-completions/thinking.ts";
import { figureIn } from "../shared/inspection/told.ts";
import { metricSum } from "../shared/prometheus.ts";

/**
 * TensorRT-LLM's trtllm-serve, by its source as of 2026 (serve/openai_protocol.py). It refuses a request with any
 * unknown field.
 */
export const trtllm: Dialect = {
  engine: "trtllm",
  sampling: "trtllm",
  countsAsItGoes: true,
  mayRefuseParallelToolCalls: true, // before https://github.com/NVIDIA/TensorRT-LLM/pull/19459; later ones do not obey
  promptFields: oneSwitch,
  fields: ({ prompt, cacheSalt }) => ({
    stream_options: { include_usage: true, continuous_usage_stats: true },
    cache_salt: prompt.case === "conversation" ? cacheSalt : undefined, // completions have no such field
  }),
  healthPath: "/health",
  metrics: {
    path: "/prometheus/metrics",
    names: {
      running: "trtllm_num_requests_running",
      waiting: "trtllm_num_requests_waiting",
      kvUsage: "trtllm_kv_cache_utilization",
    },
    kvTokens: (page) =>
      figureIn(
        Number(metricSum(page, "trtllm_kv_cache_max_blocks")) *
          Number(metricSum(page, "trtllm_kv_cache_tokens_per_block")),
      ) || undefined,
  },
  embedBatch: 32,
  embedFormat: "float",
};

/** It also refuses a variable that the template does not use, so that the switch is sent under one name only. */
function oneSwitch(request: ThinkingRequest, continued: boolean): Fields {
  const { chat_template_kwargs: variables, ...fields } = thinkingFields(request, continued);
  if (variables === undefined) {
    return fields;
  }
  const name = /deepseek|kimi/i.test(request.model) ? "thinking" : "enable_thinking";
  return { ...fields, chat_template_kwargs: { [name]: (variables as Fields)[name] } };
}
