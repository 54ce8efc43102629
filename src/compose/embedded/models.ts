import { resolve } from "node:path";
import type { input } from "zod";
import { configSchema, type ModelConfig } from "#src/config/schema.ts";
import { type DiscoveredServer, discoverServer, findLocalServers } from "#src/fleet/engines/drivers/discovery.ts";
import { describeGguf } from "#src/fleet/engines/llama-cpp-embedded/describe.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../../simulator/fleet.ts";
import type { ServeOptions } from "../options.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { invocation } from "./invocation.ts";

type ModelInput = NonNullable<input<typeof configSchema>["models"]>[number];

/** The models of a service whose configuration has none, and a text about them for people. */
export interface EmbeddedModels {
  readonly models: readonly ModelConfig[];
  readonly notice: string;
}

/**
 * The models of `serve` when the configuration has none: those of a given server, a given model file, or simulated
 * ones, which run in this process but are reached over loopback HTTP like any other.
 */
export async function embeddedModels(options: ServeOptions, lifecycle: Lifecycle): Promise<EmbeddedModels> {
  if (options.gguf !== undefined) {
    const model = await describeGguf(resolve(options.gguf));
    return { models: parse([model]), notice: `Tollgate serves ${model.id} with llama.cpp in this process.` };
  }
  if (options.server !== undefined) {
    const models = await discoverModels(options.server);
    return { models: parse(models), notice: `Tollgate serves what ${options.server.join(" and ")} lists.` };
  }
  const found = (await findLocalServers()).map(hint);
  const simulators = await startDefaultFleet();
  lifecycle.onStop("the simulated fleet", async () => {
    await Promise.all(simulators.map((simulator) => simulator.close()));
  });
  const notice = ["Tollgate serves a SIMULATED GPU fleet: answers are made-up words, no model runs.", ...found];
  return { models: parse(defaultFleetConfig(simulators)), notice: notice.join("\n") };
}

/** USD per 1M tokens, until the operator sets a price. */
const embeddingRate = "0.01";

/** How long an inference server may take to list its models. */
const discoveryMs = 10_000;

/** The models that servers list. A model that several of them have is served by all of these. */
export async function discoverModels(urls: readonly string[]): Promise<ModelInput[]> {
  const all = (await Promise.all([...new Set(urls)].map(listModels))).flat();
  return [...Map.groupBy(all, ({ id }) => id).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, servers: [first, ...others].flatMap(({ servers }) => servers) }],
  );
}

async function listModels(url: string): Promise<ModelInput[]> {
  const { engine, models } = await discoverServer(url, AbortSignal.timeout(discoveryMs));
  return models.map(({ id, kind, contextLength, dimensions }) => ({
    id,
    kind,
    ...(contextLength !== undefined && { context_length: contextLength }),
    ...(dimensions !== undefined && { dimensions }),
    ...(kind === "embedding" && { price: { input: embeddingRate } }),
    servers: [{ url, engine }],
  }));
}

/** A hint at a server on this machine that could be used instead of the simulator. */
const hint = ({ engine, url }: DiscoveredServer) =>
  `An inference server (${engine}) listens on ${url}. To serve it, end this and start: ${invocation(process.env)} --server ${url}`;

const parse = (models: ModelInput[]): ModelConfig[] => configSchema.shape.models.parse(models);
