import { embedInputs } from "../../http/embed.ts";
import { findModel } from "../../http/exchange.ts";
import { answerChat } from "../../http/generate.ts";
import { listModels } from "../../http/models.ts";
import { sendJson } from "../../http/reply.ts";
import type { Exchange, Routes } from "../dialect.ts";
import { NativeChatEncoder, readNativeChat } from "./native.ts";

/** Ollama's endpoints: its own and OpenAI's. */
export const routes: Routes = {
  "POST /api/chat": (exchange) =>
    answerChat(exchange, readNativeChat(exchange.body), (call) => new NativeChatEncoder(call)),
  "POST /api/embed": embed,
  "POST /api/show": show,
  "GET /api/tags": ({ host, response }) =>
    sendJson(response, 200, { models: Array.from(host.models.keys(), (name) => ({ name, model: name })) }),
  "GET /api/ps": ({ host, response }) => {
    const models = Array.from(host.models.values(), ({ traits: { id, contextLength } }) => ({
      name: id,
      model: id,
      context_length: contextLength,
    }));
    sendJson(response, 200, { models });
  },
  "GET /api/version": ({ response }) => sendJson(response, 200, { version: "0.14.0" }),
  "GET /v1/models": (exchange) => listModels(exchange, () => ({ owned_by: "library" })),
  "GET /": ({ response }) => void response.writeHead(200).end("Ollama is running"),
};

function embed(exchange: Exchange): void {
  const { input, truncate } = exchange.body;
  embedInputs(exchange, input, truncate !== false, ({ model, vectors, tokens }) => {
    const embeddings = vectors.map((vector) => Array.from(vector));
    sendJson(exchange.response, 200, { model, embeddings, prompt_eval_count: tokens });
  });
}

function show(exchange: Exchange): void {
  const { kind, contextLength, thinking } = findModel(exchange).traits;
  const tools = exchange.host.settings.setup.toolCalls ? ["tools"] : [];
  const thinks = thinking.mode === "none" ? [] : ["thinking"];
  sendJson(exchange.response, 200, {
    capabilities: kind === "embedding" ? ["embedding"] : ["completion", ...tools, ...thinks],
    model_info: { "general.architecture": "simulated", "simulated.context_length": contextLength },
  });
}
