import { create } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { configSchema, type Routing } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { otherQueues, SharedServers, toName } from "#src/fleet/roster/shared-servers.ts";
import { createPolicy } from "#src/fleet/routing/create-policy.ts";
import type { Policy, RoutingRequest } from "#src/fleet/servers/choice/policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { Sharing } from "#src/fleet/sharing/sharing.ts";
import { chatRequest } from "../../engines/requests.ts";
import { SeededRandom } from "../../seeded-random.ts";
import { BatchingServer, type Card } from "./batching-server.ts";
import { ReplayClock } from "./replay-clock.ts";
import type { Trace, TracedRequest } from "./trace.ts";

/** How a trace is replayed. */
export interface Replay {
  readonly trace: Trace;
  readonly servers: number;
  readonly card: Card;
  readonly routing: Routing | ((truth: Truth) => Policy);
  readonly cores: number;
  /** How messages between cores fare. Undefined: they tell each other nothing. */
  readonly sharing?: { readonly delayMs: number; readonly lost: number };
  /** Sessions that run at once, where they have no time of their own. */
  readonly atOnce: number;
  /** Milliseconds that are replayed at most, and those at the beginning that do not count. */
  readonly ms: number;
  readonly warmMs: number;
  /** A request is good whose first token comes within so many milliseconds, and each other one within so many. */
  readonly good: { readonly firstMs: number; readonly eachMs: number };
  readonly seed: number;
}

/** What came of it. */
export interface Replayed {
  readonly requests: number;
  /** Part of all prompt tokens that were in the cache of the server that got them. */
  readonly hits: number;
  /** Milliseconds to the first token. */
  readonly p50: number;
  readonly p99: number;
  /** Part of the requests that were good. */
  readonly good: number;
  /** The busiest server's time at work as a multiple of the mean, and the mean as part of all time. */
  readonly imbalance: number;
  readonly busy: number;
  /** Part of the requests that were refused. */
  readonly refused: number;
  /** Bytes that all cores sent each other in a second. */
  readonly bytesPerS: number;
}

/** What only a simulation can tell. */
export interface Truth {
  server(member: Member): BatchingServer;
  request(route: RoutingRequest): TracedRequest;
}

interface TracedRoutingRequest extends RoutingRequest {
  readonly traced: TracedRequest;
}

/** Milliseconds between two looks of a core at a server's load, as by default. */
const pollMs = 5000;

/** Replays a trace on simulated servers, through as many cores, in virtual time. */
export async function replay(options: Replay): Promise<Replayed> {
  const { trace, servers: count, card, cores: coreCount, seed } = options;
  const clock = new ReplayClock();
  const random = new SeededRandom(seed);
  const servers = Array.from({ length: count }, () => new BatchingServer(card, clock, trace.tree.blockTokens));
  const channels = new SimulatedChannels(clock, random, options.sharing ?? { delayMs: 0, lost: 0 });
  const cores = Array.from({ length: coreCount }, (_, core) => createCore(options, servers, clock, core, channels));
  const counted = { requests: 0, refused: 0, prompt: 0, cached: 0, good: 0, waits: [] as number[] };

  function send(traced: TracedRequest, made: Map<number, string>, account: string, onEnd: () => void): void {
    const texts = trace.tree.messages(traced.blocks, traced.promptTokens, made);
    const messages = texts.map((text, at) => ({ role: at % 2 === 0 ? Role.USER : Role.ASSISTANT, text }));
    const value = create(ConversationSchema, { messages });
    const request = {
      ...chatRequest(""),
      ...{ prompt: { case: "conversation" as const, value }, cacheSalt: "", requestId: "r", maxOutputTokens: 8192 },
    };
    const route: TracedRoutingRequest = { request, promptTokens: traced.promptTokens, traced };
    const core = cores[Math.floor(random.fraction() * cores.length)] as Core;
    const at = clock.monotonic();
    const counts = at >= options.warmMs;
    const wish = { route, key: account, failed: new Set<Member>(), deadline: at + 600_000 };
    const run = (place: Place) => {
      let firstAt = 0;
      core.servers.get(place.member)?.start({
        ...traced,
        onFirstToken(cachedTokens) {
          firstAt = clock.monotonic();
          core.pool.began(place);
          if (counts) {
            counted.prompt += traced.promptTokens;
            counted.cached += cachedTokens;
            counted.waits.push(firstAt - at);
          }
          place.counted({ inputTokens: traced.promptTokens, outputTokens: 1, cachedInputTokens: cachedTokens });
        },
        onEnd() {
          const each = (clock.monotonic() - firstAt) / traced.outputTokens;
          if (counts) {
            counted.requests++;
            counted.good += firstAt - at <= options.good.firstMs && each <= options.good.eachMs ? 1 : 0;
          }
          const { promptTokens: inputTokens, outputTokens } = traced;
          place.counted({ inputTokens, outputTokens });
          core.pool.release(place);
          onEnd();
        },
      });
    };
    const refuse = () => {
      counted.refused++;
      onEnd();
    };
    try {
      const place = core.pool.acquire(wish, new AbortController().signal);
      if (place instanceof Promise) {
        place.then(run, refuse);
      } else {
        run(place);
      }
    } catch {
      refuse();
    }
  }

  let next = 0;
  const begin = (): void => {
    const number = next++;
    const session = trace.sessions[number];
    if (session === undefined) {
      return;
    }
    const made = new Map<number, string>();
    const step = (at: number): void => {
      const { request } = session.steps[at] as (typeof session.steps)[number];
      send(request, made, `account-${number % 64}`, () => {
        const following = session.steps[at + 1];
        if (following !== undefined) {
          clock.after(following.thinkMs, () => step(at + 1));
        } else if (session.at === undefined) {
          begin();
        }
      });
    };
    clock.after(session.at ?? random.fraction() * 10_000, () => step(0));
  };
  const timed = trace.sessions[0]?.at !== undefined;
  const first = timed ? trace.sessions.length : options.atOnce;
  for (let at = 0; at < first; at++) {
    begin();
  }
  await clock.run(options.ms);
  const busy = servers.map(({ busyMs }) => busyMs);
  const waits = Float64Array.from(counted.waits).sort();
  const mean = busy.reduce((sum, one) => sum + one, 0) / count;
  return {
    requests: counted.requests,
    hits: counted.cached / counted.prompt,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    good: counted.good / (counted.requests + counted.refused),
    imbalance: Math.max(...busy) / mean,
    busy: mean / clock.monotonic(),
    refused: counted.refused / (counted.requests + counted.refused),
    bytesPerS: (1000 * channels.bytes) / clock.monotonic(),
  };
}

/** Channels between cores on which messages take their time, and some are lost. */
class SimulatedChannels {
  bytes = 0;
  readonly #hearers: ((message: Uint8Array) => void)[] = [];
  readonly #clock: ReplayClock;
  readonly #random: SeededRandom;
  readonly #options: { readonly delayMs: number; readonly lost: number };

  constructor(clock: ReplayClock, random: SeededRandom, options: { readonly delayMs: number; readonly lost: number }) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
  }

  open(): FleetChannel {
    return {
      send: (message) => {
        this.bytes += message.length;
        for (const hear of this.#hearers) {
          if (this.#random.fraction() >= this.#options.lost) {
            this.#clock.after(this.#options.delayMs, () => hear(message));
          }
        }
      },
      listen: (hear) => void this.#hearers.push(hear),
      renew() {},
      close: async () => {},
    };
  }
}

interface Core {
  readonly pool: Pool;
  readonly servers: ReadonlyMap<Member, BatchingServer>;
}

function createCore(
  { routing, servers: count, card, seed, sharing }: Replay,
  servers: readonly BatchingServer[],
  clock: ReplayClock,
  core: number,
  channels: SimulatedChannels,
): Core {
  const config = configSchema.parse({
    models: [
      { id: "m", servers: Array.from({ length: count }, (_, i) => ({ url: `http://server-${i}:1`, capacity: 1000 })) },
    ],
  });
  const byMember = new Map<Member, BatchingServer>();
  const truth: Truth = {
    server: (member) => byMember.get(member) as BatchingServer,
    request: (route) => (route as TracedRoutingRequest).traced,
  };
  const { prefix_blocks } = config.fleet;
  const isOwn = typeof routing === "string";
  const random = new SeededRandom(seed + 100 * core);
  const pools: Pool[] = [];
  const shared =
    sharing &&
    new Sharing(
      { channel: channels.open(), clock, random },
      new SharedServers(
        () => pools,
        () => [],
      ),
    );
  const policy = isOwn
    ? createPolicy(routing, prefix_blocks, random, (member, ...prompt) => shared?.prompted(toName(member), ...prompt))
    : routing(truth);
  const limits = { queue: 100_000, reserve: isOwn ? config.fleet.reserve : 0, health_interval_s: 5 };
  const pool: Pool = new Pool("m", policy, clock, limits);
  pools.push(pool);
  if (shared !== undefined) {
    pool.onChange = () => shared.changed();
    pool.others = otherQueues(shared, "m");
  }
  for (const [i, server] of (config.models[0]?.servers ?? []).entries()) {
    const settings = { clock, openMs: 5000, onFree: () => pool.pump() };
    const member = new Member(`server-${i}`, "m", server, {} as Engine, settings); // the pool never calls an engine
    byMember.set(member, servers[i] as BatchingServer);
    const poll = (): void => {
      const { running, waiting, kvUsage } = servers[i] as BatchingServer;
      member.load = { running, waiting, kvUsage, ...(isOwn && { kvTokens: card.kvTokens }) };
      clock.after(pollMs, poll);
    };
    clock.after(1 + (pollMs * ((core * 7 + i * 3) % 20)) / 20, poll);
    member.load = { ...(isOwn && { kvTokens: card.kvTokens }) };
  }
  pool.replace([...byMember.keys()]);
  return { pool, servers: byMember };
}
