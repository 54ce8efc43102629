import { type System, usualPaths } from "./interface.ts";
import { createKey, prepare, startTollgate } from "./tollgate-setup.ts";

/** Tollgate all in one process, on SQLite. */
export const tollgate: System = {
  name: "tollgate",
  async start(surroundings) {
    const setup = await prepare(surroundings);
    const serve = await startTollgate(setup, "serve", "--config", setup.config);
    return {
      host: "127.0.0.1",
      port: setup.ports.http,
      headers: { authorization: `Bearer ${await createKey(setup)}` },
      paths: usualPaths,
      processes: [serve.pid],
      stop: serve.stop,
    };
  },
};
