/**
 * The engines by their names in the configuration, with the transport of each. Imports nothing, so that configuration,
 * command line and simulator can use it without loading an engine.
 */
export const engineTransports = {
  vllm: "http",
  sglang: "http",
  "llama.cpp": "http",
  ollama: "http",
  trtllm: "http",
  openai: "http",
  tei: "http",
  "tei-grpc": "grpc",
  "sglang-grpc": "grpc",
  simulator: "http",
} as const;

export type EngineName = keyof typeof engineTransports;

export const engineNames = Object.keys(engineTransports) as EngineName[];

/** Engines whose dialect the simulator speaks. */
export const simulatedNames = [
  "vllm",
  "sglang",
  "llama.cpp",
  "ollama",
  "trtllm",
  "openai",
  "tei",
] as const satisfies readonly EngineName[];
