import { type Config, configSchema } from "../config/schema.ts";
import { defaultFleetConfig, startDefaultFleet } from "../simulator/fleet.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** A simulated fleet in this process, reached over loopback HTTP like any other, and the configuration that serves it. */
export async function withSimulatedFleet(config: Config, lifecycle: Lifecycle): Promise<Config> {
  const simulators = await startDefaultFleet();
  lifecycle.onStop(async () => {
    await Promise.all(simulators.map((simulator) => simulator.close()));
  });
  const { models } = configSchema.pick({ models: true }).parse({ models: defaultFleetConfig(simulators) });
  return { ...config, models };
}
