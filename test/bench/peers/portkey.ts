import { join } from "node:path";
import { freePorts } from "../measure/processes.ts";
import { usualPaths } from "../systems/interface.ts";
import { execute } from "./cache.ts";
import type { Peer } from "./interface.ts";
import { serve } from "./serve.ts";

/** A gateway on Node.js, here with the Node.js that runs the benchmark; headers of a request say where it goes. */
export const portkey: Peer = {
  name: "portkey",
  version: "1.15.2",
  does: "translates; no keys, no money",
  install: (folder) =>
    execute(folder, "npm", "install", "--prefix", folder, "--ignore-scripts", "@portkey-ai/gateway@1.15.2"),
  async start(folder, surroundings) {
    const [port = 0] = await freePorts(1);
    const program = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
    return serve(surroundings, {
      command: [process.execPath, program, `--port=${port}`, "--headless"],
      port,
      ready: "/",
      headers: {
        authorization: "Bearer none",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `http://127.0.0.1:${surroundings.enginePort}/v1`,
      },
      paths: { chat: usualPaths.chat, embeddings: usualPaths.embeddings },
    });
  },
};
