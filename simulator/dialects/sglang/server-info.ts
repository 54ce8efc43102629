import { findModel } from "../../http/exchange.ts";
import { sendJson } from "../../http/reply.ts";
import type { Exchange } from "../dialect.ts";

/**
 * GET /server_info: the options by their names in SGLang's ServerArgs, and the values that its scheduler chose, after
 * srt/entrypoints/http_server.py of 0.5.
 */
export function serverInfo(exchange: Exchange): void {
  const { traits, gpu } = findModel(exchange);
  const { setup, truncates } = exchange.host.settings;
  const thinks = traits.thinking.mode !== "none" && traits.thinking.shown === "field";
  sendJson(exchange.response, 200, {
    model_path: traits.id,
    served_model_name: traits.id,
    context_length: traits.contextLength,
    max_running_requests: gpu.maxRunning,
    disable_radix_cache: !setup.prefixCaching,
    enable_cache_report: setup.cacheReport,
    enable_metrics: setup.metrics,
    allow_auto_truncate: truncates ?? false,
    tool_call_parser: setup.toolCalls ? "qwen25" : null,
    reasoning_parser: thinks ? "qwen3" : null,
    is_embedding: traits.kind === "embedding",
    max_total_num_tokens: gpu.kvTokens,
    max_req_input_len: traits.contextLength - 1,
    status: "ready",
    version: "0.5.9",
  });
}
