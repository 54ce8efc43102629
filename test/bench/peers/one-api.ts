import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../measure/processes.ts";
import { usualPaths } from "../systems/interface.ts";
import { execute, installed } from "./cache.ts";
import type { Peer } from "./interface.ts";
import { litellm } from "./litellm.ts";
import { serve } from "./serve.ts";

const revision = "8df4a2670b98266bd287c698243fff327d9748cf";
const token = "sk-ofthebenchmark0123456789";

/** Byte-pair ranks of cl100k_base and o200k_base, by the names under which caches of tiktoken keep them. */
const tokenizers = ["9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "fb374d419588a4632f3f557e76b4b70aebbca790"];

/** A gateway in Go with keys and quotas in SQLite, built from its source. */
export const oneApi: Peer = {
  name: "one-api",
  version: revision.slice(0, 8),
  does: "keys, quotas, a log of use in SQLite",
  async install(folder) {
    const source = join(folder, "source");
    const from = process.env.TOLLGATE_BENCH_ONE_API ?? "https://github.com/songquanpeng/one-api";
    await execute(folder, "git", "clone", "--quiet", from, source);
    await execute(source, "git", "checkout", "--quiet", revision);
    // Its pages are built with a toolchain of their own, and nobody looks at them here.
    mkdirSync(join(source, "web/build/default"), { recursive: true });
    writeFileSync(join(source, "web/build/default/index.html"), "");
    const main = join(source, "main.go");
    writeFileSync(
      main,
      readFileSync(main, "utf8").replace('server.Run(":" + port)', 'server.Run("127.0.0.1:" + port)'),
    );
    await execute(source, "go", "build", "-mod=mod", "-o", join(folder, "one-api"), ".");
    await keepTokenizers(folder);
  },
  async start(folder, surroundings) {
    const [port = 0] = await freePorts(1);
    const running = await serve(surroundings, {
      command: [join(folder, "one-api"), "--port", String(port), "--log-dir", surroundings.directory],
      env: {
        GIN_MODE: "release",
        INITIAL_ROOT_TOKEN: token.slice("sk-".length),
        INITIAL_ROOT_ACCESS_TOKEN: token,
        MEMORY_CACHE_ENABLED: "true",
        SYNC_FREQUENCY: "1",
        SQLITE_PATH: join(surroundings.directory, "one-api.db"),
        TIKTOKEN_CACHE_DIR: join(folder, "tokenizers"),
      },
      port,
      ready: "/api/status",
      headers: { authorization: `Bearer ${token}` },
      paths: { chat: usualPaths.chat },
    });
    try {
      await addEngine(port, surroundings.enginePort);
    } catch (error) {
      await running.stop();
      throw error;
    }
    return running;
  },
};

/** It loads them at its start from elsewhere, unless it finds them: LiteLLM's package has them. */
async function keepTokenizers(folder: string): Promise<void> {
  const library = join(await installed(litellm), "venv/lib");
  const kept = join(folder, "tokenizers");
  mkdirSync(kept);
  for (const file of globSync(`**/{${tokenizers}}`, { cwd: library })) {
    cpSync(join(library, file), join(kept, basename(file)));
  }
}

/** Tells it of the engine, and waits until it has read its memory anew and serves the engine's models. */
async function addEngine(port: number, enginePort: number): Promise<void> {
  const origin = `http://127.0.0.1:${port}`;
  const channel = {
    name: "engine",
    type: 1,
    key: "none",
    base_url: `http://127.0.0.1:${enginePort}`,
    models: "burst,eager,steady,paced",
    group: "default",
  };
  const headers = { authorization: token, "content-type": "application/json" };
  const bearer = { ...headers, authorization: `Bearer ${token}` };
  const added = await fetch(`${origin}/api/channel/`, { method: "POST", headers, body: JSON.stringify(channel) });
  const { success, message } = (await added.json()) as { success: boolean; message: string };
  if (!success) {
    throw new Error(`one-api takes no channel: ${message}`);
  }
  const body = JSON.stringify({ model: "eager", max_tokens: 1, messages: [{ role: "user", content: "Hello" }] });
  const ask = () => fetch(`${origin}${usualPaths.chat}`, { method: "POST", headers: bearer, body });
  for (let tries = 0; !(await ask()).ok; tries++) {
    if (tries > 100) {
      throw new Error("one-api does not serve the engine's models");
    }
    await sleep(200);
  }
}
