import { join } from "node:path";
import type { System } from "./interface.ts";
import { startServices } from "./services.ts";
import { describe, prepare, type Started, startTollgate } from "./tollgate-setup.ts";

/** Tollgate as two cores and two facades on a PostgreSQL and a Redis, whose CPU time counts too. */
export const tollgateScaledOut: System = {
  name: "tollgate-scaled-out",
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
      const nth = (n: string) => prepare({ ...surroundings, directory: join(surroundings.directory, n) }, env, `-${n}`);
      const setups = [await nth("1"), await nth("2")] as const;
      for (const setup of setups) {
        parts.push(await startTollgate(setup, "core", "--config", setup.config));
      }
      const target = `ipv4:${setups.map(({ ports }) => `127.0.0.1:${ports.grpc}`).join(",")}`;
      for (const setup of setups) {
        parts.push(await startTollgate(setup, "facade", "--config", setup.facade, "--core", target));
      }
      return {
        ...(await describe(setups[0], setups, parts)),
        processes: [...parts.map(({ pid }) => pid), services.pid],
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};
