import { encode, vocabularySize } from "../../engine/text/tokenizer.ts";
import { readChat } from "../../http/chat-request.ts";
import { findModel } from "../../http/exchange.ts";
import { chatPrompt } from "../../http/generate.ts";
import { type Figure, prometheus } from "../../http/metrics.ts";
import { listModels } from "../../http/models.ts";
import { sendJson, sendText } from "../../http/reply.ts";
import type { Exchange, Routes } from "../dialect.ts";
import { buildInfo } from "./chat.ts";

const figures: readonly Figure[] = [
  ["llamacpp:requests_processing", "gauge", ({ running }) => running],
  ["llamacpp:requests_deferred", "gauge", ({ waiting }) => waiting],
  ["llamacpp:prompt_tokens_total", "counter", ({ promptTokens }) => promptTokens],
  ["llamacpp:tokens_predicted_total", "counter", ({ generatedTokens }) => generatedTokens],
];

/** Endpoints of llama-server, started with `--metrics`. */
export const routes: Routes = {
  "POST /tokenize": ({ body, response }) => {
    sendJson(response, 200, { tokens: encode(typeof body.content === "string" ? body.content : "") });
  },
  "POST /v1/chat/completions/input_tokens": (exchange) => {
    const tokens = chatPrompt(readChat(exchange.body), findModel(exchange));
    sendJson(exchange.response, 200, { input_tokens: tokens.length });
  },
  "GET /props": props,
  "GET /v1/models": (exchange) =>
    listModels(exchange, ({ contextLength }) => ({
      owned_by: "llamacpp",
      meta: { vocab_type: 2, n_vocab: vocabularySize, n_ctx: contextLength, n_ctx_train: contextLength },
    })),
  "GET /health": ({ response }) => sendJson(response, 200, { status: "ok" }),
  "GET /metrics": ({ host, response }) => sendText(response, prometheus(figures, host.models.values(), "model")),
};

function props(exchange: Exchange): void {
  const { traits, gpu } = findModel(exchange);
  sendJson(exchange.response, 200, {
    default_generation_settings: { n_ctx: traits.contextLength },
    total_slots: gpu.maxRunning,
    model_alias: traits.id,
    endpoint_metrics: exchange.host.settings.setup.metrics,
    model_path: `/models/${traits.id}.gguf`,
    build_info: buildInfo,
  });
}
