import { resolve } from "node:path";
import type { input } from "zod";
import { type Config, configSchema, type ModelConfig } from "../config/schema.ts";
import { createEngine } from "../engines/create-engine.ts";
import { describeGguf } from "../engines/llama-cpp-native/describe.ts";
import { defaultFleetConfig, startDefaultFleet } from "../simulator/fleet.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { localServers } from "./local-servers.ts";
import type { ServeOptions } from "./options.ts";

type ModelInput = NonNullable<input<typeof configSchema>["models"]>[number];

/** Models that a service without any in its configuration serves, and what to tell people about them. */
export interface EmbeddedModels {
  readonly models: readonly ModelConfig[];
  readonly notice: string;
}

/**
 * The models of `serve` when the configuration has none: those of a given server, a given model file,
 * or simulated ones, which run in this process but are reached over loopback HTTP like any other.
 */
export async function embeddedModels(
  options: ServeOptions,
  config: Config,
  lifecycle: Lifecycle,
): Promise<EmbeddedModels> {
  if (options.gguf !== undefined) {
    const model = await describeGguf(resolve(options.gguf));
    return { models: parse([model]), notice: `Tollgate serves ${model.id} with llama.cpp in this process.` };
  }
  if (options.server !== undefined) {
    const models = await modelsOf(options.server, config);
    return { models: parse(models), notice: `Tollgate serves what ${options.server} lists.` };
  }
  const found = await localServers();
  const simulators = await startDefaultFleet();
  lifecycle.onStop(async () => {
    await Promise.all(simulators.map((simulator) => simulator.close()));
  });
  const notice = ["Tollgate serves a SIMULATED GPU fleet: answers are made-up words, no model runs.", ...found];
  return { models: parse(defaultFleetConfig(simulators)), notice: notice.join("\n") };
}

/** How long an inference server may take to list its models. */
const listTimeoutMs = 5000;

async function modelsOf(url: string, config: Config): Promise<ModelInput[]> {
  const server = { url, engine: "vllm", capacity: 256 } as const;
  const [unnamed] = parse([{ id: "unnamed", servers: [server] }]);
  if (unnamed === undefined) throw new Error("the schema dropped a model");
  const engine = createEngine(server, unnamed, config.fleet);
  try {
    const listed = await engine.listModels(AbortSignal.timeout(listTimeoutMs));
    if (listed.length === 0) throw new Error(`${url} lists no models`);
    return listed.map(({ id, contextLength }) => ({
      id,
      ...(contextLength === undefined ? {} : { context_length: contextLength }),
      servers: [server],
    }));
  } catch (cause) {
    throw new Error(`the inference server at ${url} does not list its models: is it running?`, { cause });
  } finally {
    await engine.close();
  }
}

const parse = (models: ModelInput[]): ModelConfig[] => configSchema.pick({ models: true }).parse({ models }).models;
