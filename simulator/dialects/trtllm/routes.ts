import { blockSize } from "../../engine/gpu/kv-cache.ts";
import { encode } from "../../engine/text/tokenizer.ts";
import { type Figure, prometheus } from "../../http/metrics.ts";
import { listModels } from "../../http/models.ts";
import { sendJson, sendText } from "../../http/reply.ts";
import type { Routes } from "../dialect.ts";

const figures: readonly Figure[] = [
  ["trtllm_num_requests_running", "gauge", ({ running }) => running],
  ["trtllm_num_requests_waiting", "gauge", ({ waiting }) => waiting],
  ["trtllm_kv_cache_utilization", "gauge", ({ kvUsage }) => kvUsage],
  ["trtllm_kv_cache_max_blocks", "gauge", ({ kvTokens }) => kvTokens / blockSize],
  ["trtllm_kv_cache_tokens_per_block", "gauge", () => blockSize],
  ["trtllm_request_success_total", "counter", ({ finished }) => finished],
];

/** Endpoints of trtllm-serve. */
export const routes: Routes = {
  "POST /_internal/tokenize": ({ body, response }) => {
    const tokens = encode(typeof body.prompt === "string" ? body.prompt : "");
    sendJson(response, 200, { count: tokens.length, tokens });
  },
  "GET /v1/models": (exchange) => listModels(exchange, () => ({ owned_by: "tensorrt_llm" })),
  "GET /health": ({ response }) => void response.writeHead(200).end(),
  "GET /version": ({ response }) => sendJson(response, 200, { version: "1.2.0" }),
  "GET /prometheus/metrics": ({ host, response }) => {
    sendText(response, prometheus(figures, host.models.values(), "model_name"));
  },
};
