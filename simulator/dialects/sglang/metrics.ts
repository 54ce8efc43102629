import { blockSize } from "../../engine/gpu/kv-cache.ts";
import { type Figure, prometheus } from "../../http/metrics.ts";
import { sendText } from "../../http/reply.ts";
import type { Exchange } from "../dialect.ts";

const figures: readonly Figure[] = [
  ["sglang:num_running_reqs", "gauge", ({ running }) => running],
  ["sglang:num_queue_reqs", "gauge", ({ waiting }) => waiting],
  ["sglang:token_usage", "gauge", ({ kvUsage }) => kvUsage],
  ["sglang:cache_hit_rate", "gauge", ({ cacheHits, cacheQueries }) => cacheHits / Math.max(1, cacheQueries)],
  ["sglang:prompt_tokens_total", "counter", ({ promptTokens }) => promptTokens],
  ["sglang:generation_tokens_total", "counter", ({ generatedTokens }) => generatedTokens],
  ["sglang:cached_tokens_total", "counter", ({ cacheHits }) => cacheHits],
  ["sglang:num_requests_total", "counter", ({ finished }) => finished],
];

/** GET /metrics, as with `--enable-metrics`. */
export function metrics({ host, response }: Exchange): void {
  const caches = Array.from(
    host.models.values(),
    ({ gpu }) => `sglang:cache_config_info{page_size="${blockSize}",num_pages="${gpu.kvTokens / blockSize}"} 1\n`,
  );
  const text = prometheus(figures, host.models.values(), "model_name");
  sendText(response, `${text}# TYPE sglang:cache_config_info gauge\n${caches.join("")}`);
}
