import { defaultModels } from "../../simulator/fleet.ts";
import type { SimulatorOptions } from "../../simulator/options.ts";
import { startSimulator } from "../../simulator/server.ts";
import type { ProcessOptions } from "./options.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";

/** `tollgate sim`: a simulated GPU server alone. */
export interface SimulateOptions extends ProcessOptions, Omit<SimulatorOptions, "models"> {
  /** Default: one model of each kind. */
  readonly models?: SimulatorOptions["models"];
}

/** Runs a simulated GPU server. Resolves when it is ready. */
export async function simulate({ log, models = defaultModels, ...options }: SimulateOptions): Promise<void> {
  const lifecycle = new Lifecycle(createLogger(log));
  const simulator = await startSimulator({ ...options, models });
  lifecycle.onStop("the simulated fleet", () => simulator.close());
  lifecycle.ready({ http: new URL(simulator.url).host, models: simulator.models.join(" ") });
}
