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

/** One of many accounts floods a fleet. */
export interface Flood {
  readonly servers: number;
  readonly minutes: number;
  readonly accounts: number;
  /** Prompt tokens of the flood, and how often more of them come than the fleet can read. */
  readonly promptTokens: number;
  readonly times: number;
  /** The part of the fleet's prefill that the others need. */
  readonly others: number;
  /** Whether the fleet knows how large the servers' caches are. */
  readonly knowsKv: boolean;
  readonly seed: number;
}

export const usualFlood: Flood = {
  servers: 8,
  minutes: 4,
  accounts: 20,
  promptTokens: 24_000,
  times: 2,
  others: 0.5,
  knowsKv: true,
  seed: 7,
};

/** What some of the requests met. */
export interface Met {
  readonly served: number;
  readonly refused: number;
  /** Milliseconds to the first token. */
  readonly p50: number;
  readonly p99: number;
}

interface Arrival {
  readonly at: number;
  readonly account: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Runs a flood at the default settings, in virtual time. */
export async function flood(
  setting: Flood,
): Promise<{ readonly others: Met; readonly flooder: Met; readonly tokens: number }> {
  const clock = new ManualClock();
  const { models, fleet } = configSchema.parse({
    models: [{ id: "m", context_length: 131_072, servers: toServers(setting) }],
  });
  const pool: Pool = new Pool("m", createPolicy(fleet.routing, 4096, new SeededRandom(1)), clock, fleet);
  const servers = new Map<Member, GpuServer>();
  for (const [i, config] of (models[0]?.servers ?? []).entries()) {
    const settings = { clock, openMs: 5000, onFree: () => pool.pump() };
    const member = new Member(`server-${i}`, "m", config, {} as Engine, settings); // the pool never calls an engine
    servers.set(member, new GpuServer(member, h100, clock));
  }
  pool.replace([...servers.keys()]);
  const waits = { others: [] as number[], flooder: [] as number[] };
  const refused = { others: 0, flooder: 0 };
  let tokens = 0;

  function run(arrival: Arrival, place: Place): void {
    const who = arrival.account === "flooder" ? "flooder" : "others";
    servers.get(place.member)?.start({
      ...arrival,
      onFirstToken() {
        waits[who].push(clock.monotonic() - arrival.at);
        pool.began(place);
      },
      onEnd() {
        tokens += arrival.promptTokens + arrival.outputTokens;
        place.counted({ inputTokens: arrival.promptTokens, outputTokens: arrival.outputTokens });
        pool.release(place);
      },
    });
  }

  for (const arrival of arrivalsOf(setting)) {
    await advanceTo(clock, arrival.at);
    const request = textRequest(arrival.account, { maxOutputTokens: 4096, cacheSalt: `${arrival.at}` });
    const wish = {
      route: { request: { ...request, requestId: "r" }, promptTokens: arrival.promptTokens },
      key: arrival.account,
      failed: new Set<Member>(),
      deadline: clock.monotonic() + fleet.queue_timeout_s * 1000,
    };
    const refuse = () => {
      refused[arrival.account === "flooder" ? "flooder" : "others"]++;
    };
    try {
      const place = pool.acquire(wish, new AbortController().signal);
      if (place instanceof Promise) {
        place.then((granted) => run(arrival, granted), refuse);
      } else {
        run(arrival, place);
      }
    } catch {
      refuse();
    }
  }
  await advanceTo(clock, clock.monotonic() + 120_000);
  const met = (who: "others" | "flooder"): Met => ({
    ...spread(waits[who]),
    served: waits[who].length,
    refused: refused[who],
  });
  return { others: met("others"), flooder: met("flooder"), tokens };
}

function toServers({ servers, knowsKv }: Flood) {
  return Array.from({ length: servers }, (_, i) => ({
    url: `http://server-${i}:1`,
    ...(knowsKv && { kv_tokens: h100.kvTokens }),
  }));
}

/** Requests of all accounts in the order of their arrival. */
function arrivalsOf({ servers, minutes, accounts, promptTokens, times, others, seed }: Flood): Arrival[] {
  const random = new SeededRandom(seed);
  const arrivals: Arrival[] = [];
  const rate = servers * h100.prefillRate;
  const meanPrompt = 6000;
  for (let account = 1; account < accounts; account++) {
    const everyMs = (1000 * meanPrompt * (accounts - 1)) / (rate * others);
    for (let at = random.exponential(everyMs); at < minutes * 60_000; at += random.exponential(everyMs)) {
      const prompt = random.between(200, 2 * meanPrompt - 200);
      arrivals.push({ at, account: `account-${account}`, promptTokens: prompt, outputTokens: random.between(50, 500) });
    }
  }
  const everyMs = (1000 * promptTokens) / (rate * times);
  for (let at = 5000; at < minutes * 60_000; at += random.exponential(everyMs)) {
    arrivals.push({ at, account: "flooder", promptTokens, outputTokens: random.between(50, 500) });
  }
  return arrivals.sort((one, other) => one.at - other.at);
}

/** Lets time pass, and every few milliseconds the promises that follow. */
async function advanceTo(clock: ManualClock, at: number): Promise<void> {
  while (clock.monotonic() < at) {
    clock.advance(Math.min(5, at - clock.monotonic()));
    await undefined;
    await undefined;
  }
}

function spread(values: number[]): { readonly p50: number; readonly p99: number } {
  const sorted = values.toSorted((one, other) => one - other);
  const part = (fraction: number) => Math.round(sorted[Math.floor(sorted.length * fraction)] ?? 0);
  return { p50: part(0.5), p99: part(0.99) };
}
