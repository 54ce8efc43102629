// After text-embeddings-inference's router/src/http/{server,types}.rs, v1.9.
import { pieces, tokenId } from "../../engine/text/tokenizer.ts";
import { EngineError } from "../../engine-error.ts";
import { embeddings, embedInputs } from "../../http/embed.ts";
import { findModel } from "../../http/exchange.ts";
import { type Figure, prometheus } from "../../http/metrics.ts";
import { sendJson, sendText } from "../../http/reply.ts";
import type { Exchange, Routes } from "../dialect.ts";
import { batchTooLarge, maxClientBatchSize } from "./errors.ts";

const figures: readonly Figure[] = [
  ["te_queue_size", "gauge", ({ waiting }) => waiting],
  ["te_request_success", "counter", ({ finished }) => finished],
];

/** Endpoints of text-embeddings-inference. */
export const routes: Routes = {
  "POST /v1/embeddings": (exchange) => {
    checkBatch(exchange.body.input);
    embeddings(exchange);
  },
  "POST /embed": embed,
  "POST /tokenize": tokenize,
  "GET /info": info,
  "GET /health": ({ response }) => void response.writeHead(200).end(),
  "GET /metrics": ({ host, response }) => sendText(response, prometheus(figures, host.models.values(), "model")),
};

function embed(exchange: Exchange): void {
  const { inputs, truncate } = exchange.body;
  checkBatch(inputs);
  embedInputs(exchange, inputs, typeof truncate === "boolean" ? truncate : undefined, ({ vectors, tokens }) => {
    const body = vectors.map((vector) => Array.from(vector));
    sendJson(exchange.response, 200, body, { "x-compute-type": "cpu", "x-compute-tokens": tokens });
  });
}

function checkBatch(inputs: unknown): void {
  if (!Array.isArray(inputs)) {
    return;
  }
  if (inputs.length === 0) {
    throw new EngineError(400, "`inputs` cannot be empty");
  }
  if (inputs.length > maxClientBatchSize) {
    throw batchTooLarge(inputs.length);
  }
}

function tokenize({ body, response }: Exchange): void {
  const inputs: unknown[] = Array.isArray(body.inputs) ? body.inputs : [body.inputs];
  const tokens = inputs.map((input) => {
    let start = 0;
    return pieces(String(input)).map((text) => {
      const stop = start + text.length;
      const token = { id: tokenId(text), text, special: false, start, stop };
      start = stop;
      return token;
    });
  });
  sendJson(response, 200, tokens);
}

function info(exchange: Exchange): void {
  const { traits } = findModel(exchange);
  const { settings, dialect } = exchange.host;
  sendJson(exchange.response, 200, {
    model_id: traits.id,
    model_sha: null,
    model_dtype: "float16",
    served_model_name: traits.id,
    model_type: { embedding: { pooling: "cls" } },
    max_concurrent_requests: 512,
    max_input_length: traits.contextLength,
    max_batch_tokens: traits.contextLength * 2,
    max_batch_requests: null,
    max_client_batch_size: maxClientBatchSize,
    auto_truncate: settings.truncates ?? dialect.truncates,
    tokenization_workers: 1,
    version: "1.9.3",
    sha: null,
    docker_label: null,
  });
}
