import { blockSize } from "../../engine/gpu/kv-cache.ts";
import { type Figure, prometheus } from "../../http/metrics.ts";
import { sendText } from "../../http/reply.ts";
import type { Exchange } from "../dialect.ts";

const figures: readonly Figure[] = [
  ["vllm:num_requests_running", "gauge", ({ running }) => running],
  ["vllm:num_requests_waiting", "gauge", ({ waiting }) => waiting],
  ["vllm:kv_cache_usage_perc", "gauge", ({ kvUsage }) => kvUsage],
  ["vllm:prompt_tokens_total", "counter", ({ promptTokens }) => promptTokens],
  ["vllm:generation_tokens_total", "counter", ({ generatedTokens }) => generatedTokens],
  ["vllm:prefix_cache_queries_total", "counter", ({ cacheQueries }) => cacheQueries],
  ["vllm:prefix_cache_hits_total", "counter", ({ cacheHits }) => cacheHits],
  ["vllm:num_preemptions_total", "counter", ({ preempted }) => preempted],
  ["vllm:request_success_total", "counter", ({ finished }) => finished, 'finished_reason="stop"'],
  ["vllm:request_success_total", "counter", ({ aborted }) => aborted, 'finished_reason="abort"'],
];

/** GET /metrics */
export function metrics({ host, response }: Exchange): void {
  const caching = host.settings.setup.prefixCaching ? "True" : "False"; // Python's spelling
  const caches = Array.from(
    host.models.values(),
    ({ gpu }) =>
      `vllm:cache_config_info{block_size="${blockSize}",enable_prefix_caching="${caching}",num_gpu_blocks="${gpu.kvTokens / blockSize}"} 1\n`,
  );
  const text = prometheus(figures, host.models.values(), "model_name");
  sendText(response, `${text}# TYPE vllm:cache_config_info gauge\n${caches.join("")}`);
}
