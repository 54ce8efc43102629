import { join } from "node:path";
import { cached, logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { contextLength } from "../../model/models.ts";
import { runCommand } from "../../programs.ts";
import { llamaSource } from "../llama-cpp/build-server.ts";
import { makeModel } from "./make-model.ts";

const version = "0.17.4";
const bin = () => cached("go", "bin");

export const ollama: RealEngine = {
  title: "Ollama",
  version,
  engine: "ollama",
  /** Built by Go from its module, which lacks the headers of others that llama.cpp has in `vendor`. */
  async install() {
    await runCommand(["go", "install", `github.com/ollama/ollama@v${version}`], {
      log: logOf("install-ollama"),
      env: { GOBIN: bin(), CGO_ENABLED: "1", CPATH: join(await llamaSource(), "vendor") },
    });
  },
  async start(_kind, port) {
    return {
      command: [join(bin(), "ollama"), "serve"],
      env: {
        OLLAMA_HOST: `127.0.0.1:${port}`,
        OLLAMA_MODELS: cached("ollama"),
        OLLAMA_CONTEXT_LENGTH: String(contextLength),
        OLLAMA_NUM_PARALLEL: "4",
        OLLAMA_MAX_LOADED_MODELS: "2",
        OLLAMA_KEEP_ALIVE: "-1",
      },
      log: logOf("ollama"),
      readyPath: "/api/version",
      readySeconds: 120,
    };
  },
  async prepare(url, models) {
    await makeModel(url, "chat", models.gguf("chat"));
    await makeModel(url, "embedding", models.gguf("embedding"));
  },
  servedName: (kind) => `tiny-${kind}:latest`,
  isOneForAll: true,
};
