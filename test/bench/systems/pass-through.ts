import { startHelper } from "../measure/processes.ts";
import { type System, usualPaths } from "./interface.ts";

/** The bare Node pass-through that everything else is compared with. */
export const passThrough: System = {
  name: "pass-through",
  async start({ enginePort }) {
    const helper = await startHelper("load/pass-through.ts", [String(enginePort)]);
    return {
      host: "127.0.0.1",
      ports: [helper.port],
      headers: {},
      paths: usualPaths,
      processes: [helper.pid],
      stop: helper.stop,
    };
  },
};
