import { type System, usualPaths } from "./interface.ts";
import { createKey, prepare, startTollgate } from "./tollgate-setup.ts";

/** Tollgate as one facade and one core that talk gRPC. */
export const tollgateSplit: System = {
  name: "tollgate-split",
  async start(surroundings) {
    const setup = await prepare(surroundings);
    const core = await startTollgate(setup, "core", "--config", setup.config);
    const facade = await startTollgate(
      setup,
      "facade",
      "--config",
      setup.facade,
      "--core",
      `ipv4:127.0.0.1:${setup.ports.grpc}`,
    );
    return {
      host: "127.0.0.1",
      port: setup.ports.http,
      headers: { authorization: `Bearer ${await createKey(setup)}` },
      paths: usualPaths,
      processes: [core.pid, facade.pid],
      async stop() {
        await facade.stop();
        await core.stop();
      },
    };
  },
};
