import { create } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import { configSchema, type Routing } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { createPolicy } from "#src/fleet/routing/create-policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { chatRequest } from "../../engines/requests.ts";
import { SeededRandom } from "../../seeded-random.ts";
import { PromptCache } from "./prompt-cache.ts";
import type { Job, Turn, Workload } from "./workloads.ts";

/** What happens to a server in the middle of it all. */
export interface Trouble {
  readonly server: number;
  /** Milliseconds since the start. */
  readonly from: number;
  readonly to: number;
  /** Times slower; without, it is dead and comes back with an empty cache. */
  readonly slower?: number;
}

/** What came of a run. */
export interface Outcome {
  readonly requests: number;
  /** Part of all prompt tokens that were in the cache of the server that got them. */
  readonly hitRate: number;
  /** Milliseconds to the first token. */
  readonly p50: number;
  readonly p99: number;
  /** The busiest server's work as a multiple of the mean. */
  readonly imbalance: number;
}

export const policies = ["prefix", "least-load", "round-robin"] as const satisfies Routing[];

// A GPU server as in the simulator: 8000 prompt tokens a second, one prompt after the other, an answer at
// 6 ms a token and 0.35 ms more for each request beside it, half a million tokens of cache.
export const prefillMs = 1 / 8;
export const stepMs = 6;
const perRunningMs = 0.35;
export const cacheTokens = 524_288;

class Server {
  readonly cache = new PromptCache(cacheTokens);
  readonly member: Member;
  prefillFreeAt = 0;
  work = 0;
  slower = 1;

  constructor(member: Member) {
    this.member = member;
  }
}

/** A fleet under load. */
export interface Setting {
  readonly workload: Workload;
  readonly servers: number;
  readonly minutes: number;
  readonly troubles?: readonly Trouble[];
  /** Another one makes other requests of the same kind. Default: 7. */
  readonly seed?: number;
}

/** Runs a workload on a fleet in virtual time. */
export function simulate(policy: Routing, { workload, servers, minutes, troubles = [], seed = 7 }: Setting): Outcome {
  const clock = new ManualClock();
  const random = new SeededRandom(seed);
  const fleet = createServers(servers, clock, () => pool.pump());
  const members = fleet.map(({ member }) => member);
  const pool: Pool = new Pool("m", createPolicy(policy, 262_144, random), clock, {
    ...{ queue: Number.POSITIVE_INFINITY, reserve: 0.125, health_interval_s: 5 },
  });
  pool.replace(members);
  const byMember = new Map(fleet.map((server) => [server.member, server]));
  const waits: number[] = [];
  let prompt = 0;
  let cached = 0;

  function run(job: Job, place: Place): void {
    const server = byMember.get(place.member);
    if (server === undefined) {
      throw new Error("the pool has a member that is none of ours");
    }
    const tokens = sum(job.turns.map((turn) => turn.tokens));
    const known = server.cache.match(salted(job));
    prompt += tokens;
    cached += known;
    const now = clock.monotonic();
    const reading = (tokens - known) * prefillMs * server.slower;
    server.prefillFreeAt = Math.max(now, server.prefillFreeAt) + reading;
    const writing = job.outputTokens * (stepMs + perRunningMs * place.member.inFlight) * server.slower;
    server.work += reading + writing;
    clock.after(server.prefillFreeAt - now, () => {
      waits.push(clock.monotonic() - job.at);
      place.began(clock.monotonic());
      server.cache.add(salted(job));
      clock.after(writing, () => pool.release(place));
    });
  }

  for (const trouble of troubles) {
    schedule(trouble, fleet[trouble.server], pool, clock);
  }
  for (const job of workload(seed, minutes)) {
    clock.advance(job.at - clock.monotonic());
    const request = requestOf(job);
    const wish = {
      route: { request, promptTokens: estimateTokens(request.prompt) },
      key: job.account,
      failed: new Set<Member>(),
      deadline: Number.POSITIVE_INFINITY,
    };
    const place = pool.acquire(wish, new AbortController().signal);
    if (place instanceof Promise) {
      throw new Error("the fleet is too small for the workload");
    }
    run(job, place);
  }
  clock.advance(Number.MAX_SAFE_INTEGER - clock.monotonic());
  waits.sort((one, other) => one - other);
  const work = fleet.map((server) => server.work);
  return {
    requests: waits.length,
    hitRate: cached / prompt,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    imbalance: Math.max(...work) / (sum(work) / work.length),
  };
}

function createServers(count: number, clock: ManualClock, onFree: () => void): Server[] {
  const { models } = configSchema.parse({
    models: [
      { id: "m", servers: Array.from({ length: count }, (_, i) => ({ url: `http://server-${i}:1`, capacity: 1000 })) },
    ],
  });
  const engine = {} as Engine; // the pool never calls it
  return (models[0]?.servers ?? []).map(
    (config, i) => new Server(new Member(`server-${i}`, "m", config, engine, { clock, openMs: 5000, onFree })),
  );
}

function schedule(trouble: Trouble, server: Server | undefined, pool: Pool, clock: ManualClock): void {
  if (server === undefined) {
    throw new Error("trouble with a server that is not there");
  }
  clock.after(trouble.from, () => {
    server.slower = trouble.slower ?? 1;
    if (trouble.slower === undefined) {
      server.member.healthy = false;
    }
  });
  clock.after(trouble.to, () => {
    server.slower = 1;
    if (trouble.slower !== undefined) {
      return;
    }
    server.member.healthy = true;
    server.cache.clear();
    pool.forget(server.member);
  });
}

const random = new SeededRandom(7);
const noise = Array.from({ length: 1 << 18 }, () => String.fromCharCode(random.between(97, 122))).join("");

/** A text of four characters a token that is the same for the same turn, and like no other. */
export function toText({ id, tokens }: Turn): string {
  const hash = [...id].reduce((mixed, letter) => (Math.imul(mixed, 31) + letter.charCodeAt(0)) | 0, 7);
  const start = (Math.imul(hash, 0x9e3779b1) >>> 0) % (noise.length / 2);
  return noise.slice(start, start + 4 * tokens);
}

function requestOf({ account, turns }: Job): FleetRequest {
  const messages = turns.map((turn, i) => ({ role: i % 2 === 1 ? Role.USER : Role.ASSISTANT, text: toText(turn) }));
  const value = create(ConversationSchema, { messages });
  return { ...chatRequest(""), prompt: { case: "conversation", value }, cacheSalt: account };
}

/** The engine keeps accounts apart by their salt, which stands before everything. */
function salted({ account, turns }: Job): Turn[] {
  return [{ id: account, tokens: 0 }, ...turns];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
