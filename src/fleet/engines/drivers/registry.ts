import type { EngineName, engineTransports } from "#lib/inference/engine-names.ts";
import type { ServerConfig } from "#src/config/schema.ts";
import { driver as llamaCpp } from "../llama-cpp/driver.ts";
import { driver as llamaCppEmbedded } from "../llama-cpp-embedded/driver.ts";
import { driver as ollama } from "../ollama/driver.ts";
import { driver as openaiCompatible } from "../openai-compatible/driver.ts";
import { driver as sglang } from "../sglang/driver.ts";
import { driver as sglangGrpc } from "../sglang-grpc/driver.ts";
import type { EngineDriver } from "../shared/driver.ts";
import { driver as tei } from "../tei/driver.ts";
import { driver as teiGrpc } from "../tei-grpc/driver.ts";
import { driver as trtllm } from "../trtllm/driver.ts";
import { driver as vllm } from "../vllm/driver.ts";

/** The driver of every engine. */
export const registry: Readonly<Record<EngineName, EngineDriver>> = {
  vllm,
  sglang,
  "llama.cpp": llamaCpp,
  ollama,
  trtllm,
  openai: openaiCompatible,
  tei,
  "tei-grpc": teiGrpc,
  "sglang-grpc": sglangGrpc,
  simulator: { ...vllm, detect: {} }, // it speaks vLLM's dialect
} satisfies { [Name in EngineName]: EngineDriver<(typeof engineTransports)[Name]> };

/** The driver of a server. A model file runs in this process. */
export function findDriver({ url, engine }: Pick<ServerConfig, "url" | "engine">): EngineDriver {
  return url.startsWith("file:") ? llamaCppEmbedded : registry[engine];
}
