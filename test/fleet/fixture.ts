import type { input } from "zod";
import { readDetail } from "#lib/errors/detail.ts";
import type { Lookup } from "#lib/net/lookup.ts";
import { configSchema } from "#src/config/schema.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import { createFleet } from "#src/fleet/create-fleet.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import type { Fleet, FleetRequest, HealthChange } from "#src/fleet/interface.ts";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { chatRequest } from "./engines/requests.ts";
import { FakeEngine } from "./fake-engine.ts";
import { SeededRandom } from "./seeded-random.ts";

/** A fleet of fake engines under a clock that the test turns. */
export interface Fixture {
  readonly fleet: Fleet;
  readonly clock: ManualClock;
  readonly engines: readonly FakeEngine[];
  readonly model: ServedModel;
  /** The servers that said what cannot be true. */
  readonly implausible: readonly string[];
  /** The servers that left. */
  readonly left: readonly string[];
  /** The servers that went down or came back. */
  readonly changes: readonly HealthChange[];
  /** The classes of requests that were refused for their promise, and by how many milliseconds first tokens were not as expected. */
  readonly shed: readonly string[];
  readonly errors: readonly number[];
  /** Starts a generation and reads it to its end. */
  run(request?: Partial<FleetRequest>, signal?: AbortSignal): Promise<EngineOutput[]>;
}

export function fixture(
  capacities: readonly number[],
  config: input<typeof configSchema>["fleet"] = {},
  model: Partial<NonNullable<input<typeof configSchema>["models"]>[number]> = {},
  lookup: Lookup = async () => [],
  { clock = new ManualClock(), channel, seed = 1 }: { clock?: ManualClock; channel?: FleetChannel; seed?: number } = {},
): Fixture {
  const parsed = configSchema.parse({
    fleet: { routing: "round-robin", ...config },
    models: [
      {
        id: "m",
        servers: capacities.map((capacity, i) => ({ url: `http://server-${i}:8000`, capacity })),
        ...model,
      },
    ],
  });
  const models = parsed.models.map((one) => ({ ...one, createdAt: new Date(0) }));
  const [served] = models;
  if (served === undefined) {
    throw new Error("there is no model");
  }
  const engines: FakeEngine[] = [];
  const implausible: string[] = [];
  const left: string[] = [];
  const changes: HealthChange[] = [];
  const shed: string[] = [];
  const errors: number[] = [];
  const fleet = createFleet({
    models,
    config: parsed.fleet,
    engines: () => {
      const engine = new FakeEngine();
      engines.push(engine);
      return engine;
    },
    clock,
    random: new SeededRandom(seed),
    ...(channel && { channel }),
    logger: silentLogger,
    lookup,
    healthChanged: (change) => void changes.push(change),
    observer: {
      waited() {},
      failed() {},
      firstToken: (_server, _model, ms, expectedMs) => void errors.push(Math.abs(ms - expectedMs)),
      shed: (_model, serviceClass) => void shed.push(serviceClass),
      implausible: (server) => void implausible.push(server),
      left: (server) => void left.push(server),
    },
  });
  return {
    fleet,
    clock,
    engines,
    model: served,
    ...{ implausible, left, changes, shed, errors },
    async run(request = {}, signal = new AbortController().signal) {
      const outputs: EngineOutput[] = [];
      for await (const output of fleet.generate(served, { ...chatRequest("hi"), ...request }, signal)) {
        outputs.push(output);
      }
      return outputs;
    },
  };
}

/** Lets everything happen that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The reason for which the core refuses, where it does. */
export const toReason = async (answer: Promise<unknown>) =>
  readDetail(
    await answer.then(
      () => undefined,
      (error) => error,
    ),
  )?.reason;
