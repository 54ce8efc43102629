import type { System } from "./interface.ts";
import { describe, prepare, startTollgate } from "./tollgate-setup.ts";

/** Tollgate all in one process, on SQLite. */
export const tollgate: System = {
  name: "tollgate",
  async start(surroundings) {
    const setup = await prepare(surroundings);
    const serve = await startTollgate(setup, "serve", "--config", setup.config);
    return { ...(await describe(setup, [setup], [serve])), processes: [serve.pid], stop: serve.stop };
  },
};
