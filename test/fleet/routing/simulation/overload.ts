import type { ServiceClass } from "#lib/limits/service-class.ts";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { createPolicy } from "#src/fleet/routing/create-policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { textRequest } from "../../engines/requests.ts";
import { SeededRandom } from "../../seeded-random.ts";
import { GpuServer, h100 } from "./gpu-server.ts";

/** More comes to a fleet than it can read. */
export interface Overload {
  readonly servers: number;
  readonly seconds: number;
  /** Prompt tokens that come as a multiple of those that can be read. */
  readonly times: number;
  /** The part of the requests that each class has. */
  readonly parts: Readonly<Partial<Record<ServiceClass, number>>>;
  /** Seconds to the first token that each class wants. */
  readonly wants: Readonly<Partial<Record<ServiceClass, number>>>;
  /** Whether requests are refused that would not have it. */
  readonly sheds: boolean;
  readonly seed: number;
}

/** What became of the requests of a class. */
export interface Fate {
  asked: number;
  /** Had the first token in time; those without a wish have it whenever they are served. */
  kept: number;
  served: number;
  refused: number;
  /** Milliseconds that those waited who were refused, together. */
  refusedAfterMs: number;
}

const accounts = 20;
const meanPrompt = 6000;

/** Runs an overload in virtual time. */
export async function overload(setting: Overload): Promise<Map<ServiceClass, Fate>> {
  const { servers, seconds, times, parts, wants, sheds, seed } = setting;
  const clock = new ManualClock();
  const { models, fleet } = configSchema.parse({
    models: [
      {
        ...{ id: "m", context_length: 131_072 },
        servers: Array.from({ length: servers }, (_, i) => ({ url: `http://server-${i}:1`, kv_tokens: h100.kvTokens })),
      },
    ],
  });
  const pool: Pool = new Pool("m", createPolicy(fleet.routing, 4096, new SeededRandom(1)), clock, fleet);
  const gpus = new Map<Member, GpuServer>();
  for (const [i, config] of (models[0]?.servers ?? []).entries()) {
    const settings = { clock, openMs: 5000, onFree: () => pool.pump() };
    const member = new Member(`server-${i}`, "m", config, {} as Engine, settings); // the pool never calls an engine
    gpus.set(member, new GpuServer(member, h100, clock));
  }
  pool.replace([...gpus.keys()]);
  const fates = new Map<ServiceClass, Fate>();
  const random = new SeededRandom(seed);
  const everyMs = (1000 * meanPrompt) / (servers * h100.prefillRate * times);
  for (let at = 0; at < seconds * 1000; at += random.exponential(everyMs)) {
    await advanceTo(clock, at);
    const serviceClass = toClass(parts, random.fraction());
    const fate = fates.get(serviceClass) ?? { asked: 0, kept: 0, served: 0, refused: 0, refusedAfterMs: 0 };
    fates.set(serviceClass, fate);
    fate.asked++;
    const begun = clock.monotonic();
    const promptTokens = random.between(200, 2 * meanPrompt - 200);
    const outputTokens = random.between(50, 500);
    const wanted = wants[serviceClass];
    const promisedBy = wanted === undefined || !sheds ? undefined : begun + 1000 * wanted;
    const deadline = Math.min(begun + fleet.queue_timeout_s * 1000, promisedBy ?? Number.POSITIVE_INFINITY);
    const request = { ...textRequest("hi", { maxOutputTokens: 4096, cacheSalt: `${at}` }), requestId: "r" };
    const wish = {
      ...{ route: { request, promptTokens }, key: `account-${random.between(1, accounts)}`, serviceClass },
      ...{ failed: new Set<Member>(), deadline, promisedBy },
    };
    const run = (place: Place) =>
      gpus.get(place.member)?.start({
        ...{ promptTokens, outputTokens },
        onFirstToken() {
          fate.served++;
          fate.kept += clock.monotonic() - begun <= 1000 * (wanted ?? Number.POSITIVE_INFINITY) ? 1 : 0;
          pool.began(place);
        },
        onEnd() {
          place.counted({ inputTokens: promptTokens, outputTokens });
          pool.release(place);
        },
      });
    const refuse = () => {
      fate.refused++;
      fate.refusedAfterMs += clock.monotonic() - begun;
    };
    try {
      const place = pool.acquire(wish, new AbortController().signal);
      if (place instanceof Promise) {
        place.then(run, refuse);
      } else {
        run(place);
      }
    } catch {
      refuse();
    }
  }
  await advanceTo(clock, clock.monotonic() + 60_000);
  return fates;
}

function toClass(parts: Overload["parts"], at: number): ServiceClass {
  let end = 0;
  for (const [serviceClass, part] of Object.entries(parts)) {
    end += part;
    if (at < end) {
      return serviceClass as ServiceClass;
    }
  }
  return "standard";
}

/** Lets time pass, and every few milliseconds the promises that follow. */
async function advanceTo(clock: ManualClock, at: number): Promise<void> {
  while (clock.monotonic() < at) {
    clock.advance(Math.min(5, at - clock.monotonic()));
    await undefined;
    await undefined;
  }
}
