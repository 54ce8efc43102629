import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../measure/processes.ts";
import { usualPaths } from "../systems/interface.ts";
import { pip } from "./cache.ts";
import type { Peer } from "./interface.ts";
import { serve } from "./serve.ts";

const key = "sk-of-the-benchmark";

/** A gateway in Python with a master key and no database: one process, as it starts by itself. */
export const litellm: Peer = {
  name: "litellm",
  version: "1.106.0",
  does: "a master key, translates, counts costs; no database",
  install: (folder) => pip(folder, "litellm[proxy]==1.106.0"),
  async start(folder, surroundings) {
    const [port = 0] = await freePorts(1);
    const api_base = `http://127.0.0.1:${surroundings.enginePort}/v1`;
    const models = ["burst", "eager", "steady", "paced"].map((id) => ({
      model_name: id,
      litellm_params: { model: `hosted_vllm/${id}`, api_base, api_key: "none" },
    }));
    const config = join(surroundings.directory, "litellm.yaml");
    // JSON is YAML.
    writeFileSync(config, JSON.stringify({ model_list: models, general_settings: { master_key: key } }));
    return serve(surroundings, {
      command: [join(folder, "venv/bin/litellm"), "--config", config, "--host", "127.0.0.1", "--port", String(port)],
      env: {
        PATH: `${join(folder, "venv/bin")}:${process.env.PATH}`,
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_LOG: "ERROR",
        // The load target says one word again and again, which its guard takes for a model that has lost its way.
        REPEATED_STREAMING_CHUNK_LIMIT: "1000000",
      },
      port,
      ready: "/health/liveliness",
      headers: { authorization: `Bearer ${key}` },
      paths: { chat: usualPaths.chat, messages: usualPaths.messages },
    });
  },
};
