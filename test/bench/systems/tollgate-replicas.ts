import { join } from "node:path";
import type { System } from "./interface.ts";
import { startServices } from "./services.ts";
import { describe, prepare, type Started, startTollgate } from "./tollgate-setup.ts";

/** Tollgate as so many processes that serve everything on one port, on a PostgreSQL and a Redis, whose CPU time counts too. */
export function tollgateReplicas(count: number): System {
  return {
    name: `tollgate-replicas-${count}`,
    async start(surroundings) {
      const services = await startServices();
      const parts: Started[] = [];
      const stop = async () => {
        for (const part of parts.toReversed()) {
          await part.stop();
        }
        await services.stop();
      };
      try {
        const env = { TOLLGATE_STORAGE_URL: services.postgres, TOLLGATE_RATE_LIMIT_URL: services.redis };
        const first = await prepare(surroundings, env, "-1", {});
        const setups = [first];
        while (setups.length < count) {
          const name = String(setups.length + 1);
          const own = { ...surroundings, directory: join(surroundings.directory, name) };
          setups.push(await prepare(own, env, `-${name}`, { http: first.ports.http }));
        }
        for (const setup of setups) {
          parts.push(await startTollgate(setup, "serve", "--no-console", "--config", setup.config));
        }
        return {
          ...(await describe(first, [first], parts)),
          processes: [...parts.map(({ pid }) => pid), services.pid],
          stop,
        };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}
