import type { ModelOptions, SimulatorOptions } from "./options.ts";
import { type Simulator, startSimulator } from "./server.ts";

/**
 * The models that `serve` offers without configuration: one of each thinking class, one that does not think, and one
 * that embeds. Their names say that they are simulated.
 */
export const defaultModels = [
  { id: "tollgate-sim/reasoner-always", thinking: { mode: "always" } },
  { id: "tollgate-sim/reasoner-off", thinking: { mode: "default_off", depths: true } },
  { id: "tollgate-sim/reasoner-on", thinking: { mode: "default_on" } },
  { id: "tollgate-sim/plain" },
  { id: "tollgate-sim/embedder", kind: "embedding" },
] as const satisfies readonly ModelOptions[];

const contextLength = 32_768;
const maxOutput = 8192;

/** Starts the default fleet: a server for each model, on free loopback ports. */
export function startDefaultFleet(options: Omit<SimulatorOptions, "models" | "port"> = {}): Promise<Simulator[]> {
  return Promise.all(defaultModels.map((model) => startSimulator({ ...options, models: [model] })));
}

/** The configuration's `models:` section, in which simulators serve the default models. */
export function defaultFleetConfig(fleet: readonly Pick<Simulator, "url" | "models">[]) {
  return defaultModels.map((model) => {
    const servers = fleet
      .filter(({ models }) => models.includes(model.id))
      .map(({ url }) => ({ url, engine: "simulator" as const }));
    if ("kind" in model) {
      return { id: model.id, kind: model.kind, context_length: 8192, price: { input: "0.01" }, servers };
    }
    return {
      id: model.id,
      context_length: contextLength,
      max_output: maxOutput,
      ...("thinking" in model ? { thinking: model.thinking } : {}),
      price: { input: "0.20", output: "0.25" },
      servers,
    };
  });
}
