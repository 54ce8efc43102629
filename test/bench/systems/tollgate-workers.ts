import type { System } from "./interface.ts";
import { startServices } from "./services.ts";
import { describe, prepare, startTollgate } from "./tollgate-setup.ts";

/** Tollgate as so many workers behind one address, on a PostgreSQL and a Redis, whose CPU time counts too. */
export function tollgateWorkers(workers: number): System {
  return {
    name: `tollgate-workers-${workers}`,
    async start(surroundings) {
      const services = await startServices();
      try {
        const env = { TOLLGATE_STORAGE_URL: services.postgres, TOLLGATE_RATE_LIMIT_URL: services.redis };
        const setup = await prepare(surroundings, env);
        const serve = await startTollgate(setup, "serve", "--workers", String(workers), "--config", setup.config);
        return {
          ...(await describe(setup, [setup], [serve])),
          processes: [serve.pid, services.pid],
          async stop() {
            await serve.stop();
            await services.stop();
          },
        };
      } catch (error) {
        await services.stop();
        throw error;
      }
    },
  };
}
