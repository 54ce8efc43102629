import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../measure/processes.ts";
import { usualPaths } from "../../systems/interface.ts";
import { execute } from "../cache.ts";
import type { Peer } from "../interface.ts";
import { serve } from "../serve.ts";

/** A few lines around the reverse proxy of Go's standard library, built with the machine's Go. */
export const goProxy: Peer = {
  name: "go-proxy",
  version: "1",
  does: "passes on",
  install: (folder) =>
    execute(folder, "go", "build", "-o", "proxy", fileURLToPath(new URL("proxy.go", import.meta.url))),
  async start(folder, surroundings) {
    const [port = 0] = await freePorts(1);
    const engine = `http://127.0.0.1:${surroundings.enginePort}`;
    const command = [join(folder, "proxy"), `127.0.0.1:${port}`, engine];
    return serve(surroundings, { command, port, ready: "/health", paths: usualPaths });
  },
};
