import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { contextLength } from "../../model/models.ts";
import { buildServer, llamaBuild } from "./build-server.ts";

export const llamaCpp: RealEngine = {
  title: "llama-server",
  version: `b${llamaBuild}`,
  engine: "llama.cpp",
  async install() {
    await buildServer();
  },
  async start(kind, port, models) {
    const server = await buildServer();
    const common = ["-m", models.gguf(kind), "--alias", `tiny-${kind}`, "--host", "127.0.0.1", "--port", String(port)];
    const threads = ["-t", "1", "-tb", "1", "--metrics", "--no-warmup"];
    const options =
      kind === "chat"
        ? ["-c", String(4 * contextLength), "-np", "4", "--jinja"]
        : ["-c", "8193", "-np", "1", "-b", "8192", "-ub", "8192", "--embeddings"];
    return {
      command: [server, ...common, ...threads, ...options],
      log: logOf(`llama-cpp-${kind}`),
      readyPath: "/health",
      readySeconds: 120,
    };
  },
  servedName: (kind) => `tiny-${kind}`,
  counters: { input: "llamacpp:prompt_tokens_total", output: "llamacpp:tokens_predicted_total" },
};
