import type { EngineName, FleetConfig, ModelConfig, ServerConfig } from "../config/schema.ts";
import type { Engine } from "./interface.ts";
import { llamaCpp } from "./llama-cpp/dialect.ts";
import { LlamaCppEngine } from "./llama-cpp-embedded/engine.ts";
import { OllamaEngine } from "./ollama/engine.ts";
import { openai } from "./openai-compatible/dialect.ts";
import { sglang } from "./sglang/dialect.ts";
import { SglangGrpcEngine } from "./sglang-grpc/engine.ts";
import { authorizationOf } from "./shared/authorization.ts";
import { OpenAiHttpEngine } from "./shared/chat-completions/engine.ts";
import type { EngineSettings } from "./shared/settings.ts";
import { TeiEngine } from "./tei/engine.ts";
import { TeiGrpcEngine } from "./tei-grpc/engine.ts";
import { trtllm } from "./trtllm/dialect.ts";
import { vllm } from "./vllm/dialect.ts";

/** Connections beyond a server's capacity, for health, metrics and counting while it is full. */
const spareConnections = 4;

/** Makes the adapter of one server of one model. */
export function createEngine(server: ServerConfig, model: ModelConfig, fleet: FleetConfig): Engine {
  const { system_anywhere: systemAnywhere, context_length: contextLength, kind } = model;
  if (server.url.startsWith("file:")) {
    return new LlamaCppEngine(server.url, { kind, capacity: server.capacity, systemAnywhere, contextLength });
  }
  const authorization = authorizationOf(server);
  return createNetworkEngine(server.engine, server.url, {
    connections: server.capacity + spareConnections,
    connectTimeoutMs: fleet.connect_timeout_s * 1000,
    ...(server.address !== undefined && { address: server.address }),
    ...(authorization !== undefined && { authorization }),
    silenceTimeoutMs: 1000 * (1 + Math.max(fleet.first_token_timeout_s, fleet.idle_timeout_s)),
    systemAnywhere,
    contextLength,
  });
}

/** Makes the adapter of an engine that is reached over the network. */
export function createNetworkEngine(engine: EngineName, url: string, settings: EngineSettings): Engine {
  switch (engine) {
    case "vllm":
    case "simulator": // speaks vLLM's dialect
      return new OpenAiHttpEngine(url, vllm, settings);
    case "sglang":
      return new OpenAiHttpEngine(url, sglang, settings);
    case "llama.cpp":
      return new OpenAiHttpEngine(url, llamaCpp, settings);
    case "trtllm":
      return new OpenAiHttpEngine(url, trtllm, settings);
    case "openai":
      return new OpenAiHttpEngine(url, openai, settings);
    case "ollama":
      return new OllamaEngine(url, settings);
    case "tei":
      return new TeiEngine(url, settings);
    case "tei-grpc":
      return new TeiGrpcEngine(url, settings);
    case "sglang-grpc":
      return new SglangGrpcEngine(url, settings);
  }
}
