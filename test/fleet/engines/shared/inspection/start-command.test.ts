import { expect, test } from "@jest/globals";
import type { EngineName } from "#lib/inference/engine-names.ts";
import { configSchema } from "#src/config/schema.ts";
import { startCommand } from "#src/fleet/engines/drivers/inspect-server.ts";

function start(engine: EngineName, url: string, model: object = {}, server: object = {}) {
  const servers = [{ url, engine, capacity: 64, ...server }];
  const [parsed] = configSchema.parse({
    models: [{ id: "qwen/qwen3", context_length: 4096, ...model, servers }],
  }).models;
  const [first] = parsed?.servers ?? [];
  if (parsed === undefined || first === undefined) {
    throw new Error("the configuration lost its server");
  }
  return startCommand({ model: parsed, server: first })?.replaceAll(/ \\\n\s*/g, " ");
}

const thinks = { thinking: { mode: "default_on" } };
const embeds = { id: "BAAI/bge-m3", kind: "embedding", context_length: 8192 };

test.each<[string, EngineName, string, object, string]>([
  [
    "a thinking model",
    "vllm",
    "http://10.0.0.5:8000",
    thinks,
    "vllm serve qwen/qwen3 --served-model-name qwen/qwen3 --port 8000 --max-model-len 4096 --max-num-seqs 64 --enable-prefix-caching --enable-prompt-tokens-details --enable-auto-tool-choice --tool-call-parser PARSER --reasoning-parser PARSER",
  ],
  [
    "an embedding model",
    "vllm",
    "http://10.0.0.5:8000",
    embeds,
    "vllm serve BAAI/bge-m3 --served-model-name BAAI/bge-m3 --port 8000 --max-model-len 8192 --runner pooling",
  ],
  [
    "a plain model",
    "sglang",
    "http://10.0.0.5:30000",
    {},
    "python -m sglang.launch_server --model-path qwen/qwen3 --served-model-name qwen/qwen3 --port 30000 --context-length 4096 --max-running-requests 64 --enable-metrics --enable-cache-report --tool-call-parser PARSER",
  ],
  [
    "an embedding model",
    "sglang-grpc",
    "grpc://10.0.0.5:30001",
    embeds,
    "python -m sglang.launch_server --model-path BAAI/bge-m3 --served-model-name BAAI/bge-m3 --enable-grpc --grpc-port 30001 --context-length 8192 --max-running-requests 64 --enable-metrics --is-embedding",
  ],
  [
    "a plain model",
    "llama.cpp",
    "http://10.0.0.5:8080",
    {},
    "llama-server -m qwen3.gguf --alias qwen/qwen3 --port 8080 -c 65536 -np 16 --jinja --metrics",
  ],
  [
    "an embedding model",
    "llama.cpp",
    "http://10.0.0.5:8080",
    embeds,
    "llama-server -m bge-m3.gguf --alias BAAI/bge-m3 --port 8080 -c 8193 -np 1 -b 8192 -ub 8192 --embeddings --metrics",
  ],
  [
    "a plain model",
    "ollama",
    "http://10.0.0.5:11434",
    { id: "qwen3:8b" },
    "OLLAMA_HOST=10.0.0.5:11434 OLLAMA_CONTEXT_LENGTH=4096 OLLAMA_NUM_PARALLEL=8 OLLAMA_KEEP_ALIVE=-1 ollama serve\nollama pull qwen3:8b",
  ],
  [
    "a thinking model",
    "trtllm",
    "http://10.0.0.5:8000",
    thinks,
    "echo 'return_perf_metrics: true' > serve.yaml && trtllm-serve qwen/qwen3 --port 8000 --max_seq_len 4096 --max_batch_size 64 --tool_parser PARSER --reasoning_parser PARSER --extra_llm_api_options serve.yaml",
  ],
  [
    "an embedding model",
    "tei",
    "http://10.0.0.5:3000",
    embeds,
    "text-embeddings-router --model-id BAAI/bge-m3 --port 3000 --max-batch-tokens 16384 --max-concurrent-requests 2048 --auto-truncate false --payload-limit 4000000",
  ],
  [
    "an embedding model",
    "tei-grpc",
    "grpc://10.0.0.5:3000",
    embeds,
    "text-embeddings-router --model-id BAAI/bge-m3 --port 3000 --max-batch-tokens 16384 --max-concurrent-requests 2048",
  ],
])("%s on %s", (_, engine, url, model, expected) => {
  expect(start(engine, url, model)).toBe(expected);
});

test("what is not known is not told", () => {
  expect(start("openai", "https://example.org")).toBeUndefined();
  expect(start("llama.cpp", "file:///models/m.gguf")).toBeUndefined();
});

test("a name that a shell would take apart is quoted", () => {
  expect(start("vllm", "http://10.0.0.5:8000", {}, { model: "my model's" })).toContain("vllm serve 'my model'\\''s'");
});
