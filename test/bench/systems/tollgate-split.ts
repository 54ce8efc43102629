import type { System } from "./interface.ts";
import { describe, prepare, startTollgate } from "./tollgate-setup.ts";

/** Tollgate as one facade and one core that talk gRPC. */
export const tollgateSplit: System = {
  name: "tollgate-split",
  async start(surroundings) {
    const setup = await prepare(surroundings);
    const core = await startTollgate(setup, "core", "--config", setup.config);
    const target = `ipv4:127.0.0.1:${setup.ports.grpc}`;
    const facade = await startTollgate(setup, "facade", "--config", setup.facade, "--core", target);
    return {
      ...(await describe(setup, [setup], [core, facade])),
      processes: [core.pid, facade.pid],
      async stop() {
        await facade.stop();
        await core.stop();
      },
    };
  },
};
