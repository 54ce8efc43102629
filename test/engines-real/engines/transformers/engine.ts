import { join } from "node:path";
import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { installPython, type PythonPackages } from "../../python.ts";

const version = "5.19.0";
const packages: PythonPackages = {
  name: "transformers",
  packages: [`transformers[serving]==${version}`, "torch==2.13.0"],
};

/** `transformers serve`, the server that comes with the library: any server behind the common API. */
export const transformers: RealEngine = {
  title: "transformers serve",
  version,
  engine: "openai",
  async install() {
    await installPython(packages);
  },
  async start(_kind, port, models) {
    const bin = await installPython(packages);
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
