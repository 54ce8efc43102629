import { create } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { createPolicy } from "#src/fleet/routing/create-policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import { chatRequest } from "../../fleet/engines/requests.ts";
import { SeededRandom } from "../../fleet/seeded-random.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { createThreadClock } from "../measure/thread-clock.ts";
import { lineChart } from "../plots/line-chart.ts";
import { type Spread, spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";

/** CPU time of choosing a server, in microseconds. */
interface ChoiceCost {
  readonly servers: number;
  /** Tokens of the prompts. */
  readonly tokens: number;
  readonly cpu: Spread;
  /** The time that 99 of 100 choices take at most, in microseconds, with garbage collection and whatever else the machine does. */
  readonly p99: Spread;
  /** The time that 99 of 100 requests need at most, each by the median of its choices: what others do to one is left out. */
  readonly own: Spread;
}

/** Limits in microseconds of 99 of 100 choices, and of the mean, among so many servers, by the prompt's tokens. */
const budget = {
  servers: 64,
  limits: new Map([
    [32_768, 20],
    [131_072, 60],
  ]),
};

/**
 * Few texts, which are near to the CPU as those of requests are that were just read, in the names of many
 * accounts, so that the places in the index are not.
 */
const texts = 4;
const accounts = 512;
const messages = 20;
const requestsOfTurn = 8 * accounts;
const warmTurns = 8;
const { prefix_blocks } = configSchema.parse({}).fleet;

/** What choosing a server costs, in real time. */
export const choice: Scenario = {
  name: "choice",
  shows: "what choosing a server costs, for fleets and prompts of several sizes",
  async run({ options: { quick, rounds }, progress }) {
    progress("measuring the choice");
    const costs = measureChoices(rounds, quick ? [budget.servers] : [4, 16, 64, 256]);
    return { figures: choiceFigures(costs), plots: new Map([["routing/choice", choicePlot(costs)]]) };
  },
};

/** Measures with fleets of these sizes, and prompts of several. */
function measureChoices(rounds: number, fleets: readonly number[]): ChoiceCost[] {
  return fleets.flatMap((servers) =>
    [512, 2048, 8192, 32_768, 131_072].map((tokens) => ({
      servers,
      tokens,
      ...measure(servers, tokens, 3 * rounds),
    })),
  );
}

/** What choosing costs among so many servers for prompts of so many tokens. */
function measure(servers: number, tokens: number, turns: number): Pick<ChoiceCost, "cpu" | "p99" | "own"> {
  const choices = new Choices(servers, tokens);
  const costs: number[] = [];
  const longest: number[] = [];
  const times: Float64Array[] = [];
  const threadCpu = createThreadClock();
  for (let turn = 0; turn < warmTurns + turns; turn++) {
    const before = threadCpu();
    choices.run();
    const cost = (threadCpu() - before) / requestsOfTurn;
    const taken = choices.time();
    if (turn >= warmTurns) {
      costs.push(cost);
      longest.push(atPart(taken, 0.99));
      times.push(taken);
    }
  }
  const medians = Float64Array.from({ length: requestsOfTurn }, (_, at) =>
    atPart(
      Float64Array.from(times, (taken) => taken[at] as number),
      0.5,
    ),
  );
  return { cpu: spread(costs), p99: spread(longest), own: spread([atPart(medians, 0.99)]) };
}

/** Requests of many accounts to one pool, over and over. */
class Choices {
  readonly #pool: Pool;
  readonly #requests: readonly FleetRequest[];
  readonly #tokens: number;
  readonly #signal = new AbortController().signal;

  constructor(servers: number, tokens: number) {
    const random = new SeededRandom(servers + tokens);
    this.#pool = createPool(servers, random);
    this.#tokens = tokens;
    const prompts = Array.from({ length: texts }, () => conversation(tokens, random));
    this.#requests = Array.from({ length: accounts }, (_, at): FleetRequest => {
      const prompt = prompts[at % texts] as FleetRequest["prompt"];
      return { ...chatRequest(""), prompt, cacheSalt: `account-${at}` };
    });
  }

  /** A turn, at which no clock is looked at in between: that costs as much as a tenth of a choice. */
  run(): void {
    for (let at = 0; at < requestsOfTurn; at++) {
      this.#choose(at);
    }
  }

  /** A turn, and the microseconds that each of its choices took. */
  time(): Float64Array {
    const taken = new Float64Array(requestsOfTurn);
    for (let at = 0; at < requestsOfTurn; at++) {
      const begun = performance.now();
      this.#choose(at);
      taken[at] = 1000 * (performance.now() - begun);
    }
    return taken;
  }

  /** From the request's coming to its place on a server, its first token, and back. */
  #choose(at: number): void {
    const request = this.#requests[at % accounts] as FleetRequest;
    const route = { request, promptTokens: estimateTokens(request.prompt) };
    const place = this.#pool.acquire({ route, key: "", failed: new Set(), deadline: 0 }, this.#signal);
    if (!(place instanceof Place)) {
      throw new Error("every server is full");
    }
    this.#pool.began(place);
    const tokens = this.#tokens;
    place.counted({ inputTokens: tokens, outputTokens: 1, cachedInputTokens: tokens });
    this.#pool.release(place);
  }
}

/** The time that such a part of all times does not exceed. */
function atPart(times: Float64Array, part: number): number {
  return times.toSorted()[Math.floor(part * times.length)] as number;
}

function createPool(servers: number, random: SeededRandom): Pool {
  const clock = new ManualClock();
  const { models } = configSchema.parse({
    models: [{ id: "m", servers: Array.from({ length: servers }, (_, i) => ({ url: `http://server-${i}:1` })) }],
  });
  const engine = {} as Engine; // the pool never calls it
  const members = (models[0]?.servers ?? []).map((server, i) => {
    const member = new Member(`server-${i}`, "m", server, engine, { clock, openMs: 5000, onFree: () => {} });
    member.inFlight = random.between(0, 20);
    return member;
  });
  const pool = new Pool("m", createPolicy("prefix", prefix_blocks, random), clock, {
    queue: 0,
    reserve: 0.125,
    health_interval_s: 5,
  });
  pool.replace(members);
  return pool;
}

/** A conversation of four characters a token, its texts in one piece each, as they come out of JSON. */
function conversation(tokens: number, random: SeededRandom): FleetRequest["prompt"] {
  const turns = Array.from({ length: messages }, (_, i) => ({
    role: i % 2 === 0 ? Role.USER : Role.ASSISTANT,
    text: Buffer.from(random.bytes((2 * tokens) / messages)).toString("hex"),
  }));
  return { case: "conversation", value: create(ConversationSchema, { messages: turns }) };
}

/** The cost with every fleet and prompt. */
function choiceFigures(costs: readonly ChoiceCost[]): Figure[] {
  return costs.flatMap(({ servers, tokens, cpu, p99, own }): Figure[] => {
    const limit = servers === budget.servers ? budget.limits.get(tokens) : undefined;
    const name = `choosing among ${servers} servers for ${tokens} tokens`;
    return [
      { scenario: "choice", name, unit: "µs", value: cpu, better: "lower", ...(limit !== undefined && { limit }) },
      {
        ...{ scenario: "choice", name: `${name}: p99`, unit: "µs", value: p99, better: "lower" },
        ...(limit !== undefined && { limit }),
      },
      {
        ...{
          scenario: "choice",
          name: `${name}: p99 of requests, undisturbed`,
          unit: "µs",
          value: own,
          better: "lower",
        },
        ...(limit !== undefined && { limit }),
      },
    ];
  });
}

/** How the cost grows with the prompt, a line for each size of fleet. */
function choicePlot(costs: readonly ChoiceCost[]): string {
  return lineChart({
    title: "CPU time of choosing a server",
    xAxis: "1,000 tokens of prompt",
    yAxis: "µs a request",
    series: [...new Set(costs.map(({ servers }) => servers))].map((servers) => ({
      name: `${servers} servers`,
      points: costs
        .filter((cost) => cost.servers === servers)
        .map(({ tokens, cpu }) => [tokens / 1000, cpu.median] as const),
    })),
  });
}
