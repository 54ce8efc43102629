import type { input } from "zod";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createFleet } from "#src/fleet/create-fleet.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import type { Engine, EngineOutput } from "#src/fleet/engines/interface.ts";
import type { Fleet, FleetRequest } from "#src/fleet/interface.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { SeededRandom } from "../../seeded-random.ts";
import { drain } from "../collect.ts";
import { chatRequest } from "../requests.ts";
import { type Embedder, type Generator, type HostileServer, startHostileServer } from "./hostile-server.ts";

type ModelInput = Partial<NonNullable<input<typeof configSchema>["models"]>[number]>;

/** A fleet of one hostile server behind its real adapter. */
export interface HostileFleet extends AsyncDisposable {
  readonly server: HostileServer;
  readonly fleet: Fleet;
  readonly clock: ManualClock;
  /** How often the server was caught. */
  readonly caught: string[];
  readonly logged: { readonly message: string; readonly error?: unknown }[];
  /** Reads one generation to its end. */
  run(
    request?: Partial<FleetRequest>,
  ): Promise<{ outputs: EngineOutput[]; last: EngineOutput | undefined; error?: unknown }>;
  /** The same without the fleet, whose breaker does not come in between. */
  generate(
    request?: Partial<FleetRequest>,
  ): Promise<{ outputs: EngineOutput[]; last: EngineOutput | undefined; error?: unknown }>;
  embed(inputs: readonly string[]): Promise<number>;
  count(text: string): Promise<number | undefined>;
}

/** Starts a hostile server and a fleet on it. */
export async function startHostileFleet(engine: Generator | Embedder, more: ModelInput = {}): Promise<HostileFleet> {
  const server = await startHostileServer(engine);
  const servers = [{ url: server.url, engine, capacity: 4 }];
  const config = configSchema.parse({ models: [{ id: "m", context_length: 131_072, servers, ...more }] });
  const [model] = config.models.map((one) => ({ ...one, createdAt: new Date(0) }));
  if (model === undefined) {
    throw new Error("there is no model");
  }
  const clock = new ManualClock();
  const caught: string[] = [];
  const logged: HostileFleet["logged"] = [];
  const log = (fields: object, message: string) => void logged.push({ message, ...fields });
  let adapter: Engine | undefined;
  const fleet = createFleet({
    models: [model],
    config: config.fleet,
    engines: (one) => {
      adapter = createEngine(one, model, config.fleet, systemClock);
      return adapter;
    },
    clock,
    random: new SeededRandom(1),
    logger: { debug() {}, info() {}, warn: log, error: log },
    lookup: async () => [],
    observer: {
      waited() {},
      failed() {},
      firstToken() {},
      shed() {},
      implausible: (id) => void caught.push(id),
      left() {},
    },
  });
  const signal = new AbortController().signal;
  return {
    server,
    fleet,
    clock,
    caught,
    logged,
    async run(request = {}) {
      const { outputs, ...rest } = await drain(fleet.generate(model, { ...chatRequest("hi"), ...request }, signal));
      return { outputs, last: outputs.at(-1), ...rest };
    },
    async generate(request = {}) {
      if (adapter === undefined) {
        throw new Error("there is no adapter");
      }
      const { outputs, ...rest } = await drain(adapter.generate({ ...chatRequest("hi"), ...request }, signal));
      return { outputs, last: outputs.at(-1), ...rest };
    },
    embed: async (inputs) =>
      (await fleet.embed(model, { requestId: "req-1", runId: "run-1", inputs: [...inputs] }, signal)).inputTokens,
    count: (value) =>
      fleet.countTokens(model, { prompt: { case: "text", value }, recipe: chatRequest("").recipe }, signal),
    async [Symbol.asyncDispose]() {
      await fleet.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
