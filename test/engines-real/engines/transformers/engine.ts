import { join } from "node:path";
import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { installPython } from "../../python.ts";
import { vllmPackages } from "../vllm/engine.ts";

/** `transformers serve`, the server that comes with the library: any server behind the common API. */
export const transformers: RealEngine = {
  title: "transformers serve",
  version: "5.19.0",
  engine: "openai",
  async install() {
    await installPython(vllmPackages);
  },
  async start(_kind, port, models) {
    const bin = await installPython(vllmPackages);
    return {
      command: [join(bin, "transformers"), "serve", "--host", "127.0.0.1", "--port", String(port)],
      env: { HF_HUB_OFFLINE: "1", OMP_NUM_THREADS: "1", HF_HOME: models.folder("chat") },
      log: logOf("transformers-chat"),
      readyPath: "/health",
      readySeconds: 600,
    };
  },
  servedName: (kind, models) => models.folder(kind),
  cannot: {
    embeddings: "it serves none",
  },
};
