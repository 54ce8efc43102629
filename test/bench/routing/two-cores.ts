import { simulate, toText } from "../../fleet/routing/simulation/simulate.ts";
import { chats, type Job, type Workload } from "../../fleet/routing/simulation/workloads.ts";
import { SeededRandom } from "../../fleet/seeded-random.ts";
import { pause } from "../../support/pause.ts";
import { spread } from "../report/statistics.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import type { Running } from "../systems/interface.ts";
import { tollgateScaledOut } from "../systems/tollgate-scaled-out.ts";
import { CachingEngine } from "./caching-engine.ts";

const servers = 4;
/** The workload's time goes so many times faster than the clock. */
const speed = 4;
const model = "chats";
/** Points that the part of tokens found in caches may be away from the simulation's. */
const mostApart = 2;
/** How long a request may take, in milliseconds. */
const timeoutMs = 60_000;

/** The chats of one account: with one key, its system prompts are shared. */
const ofOneAccount: Workload = (seed, minutes) => chats(seed, minutes).map((job) => ({ ...job, account: "one" }));

interface ChatUsage {
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  };
}

/** What two cores and two facades find in the caches of engines, all over sockets, beside what the simulation finds. */
export const twoCores: Scenario = {
  name: "two-cores",
  shows: "what two cores find in the caches of engines over HTTP, beside the simulation of one",
  onlyNamed: true,
  async run({ options: { quick, rounds }, directory, progress }: Bench) {
    const minutes = quick ? 0.2 : 1;
    const found: { readonly real: number; readonly simulated: number }[] = [];
    for (let seed = 1; seed <= (quick ? 1 : rounds); seed++) {
      progress(`chats with the seed ${seed}`);
      const setting = { workload: ofOneAccount, servers, minutes, seed };
      const simulated = 100 * simulate("prefix", setting).hitRate;
      found.push({ real: 100 * (await hitsOverHttp(`${directory}/${seed}`, seed, minutes)), simulated });
    }
    return { figures: toFigures(found) };
  },
};

/** The part of prompt tokens that the engines find in their caches. */
async function hitsOverHttp(directory: string, seed: number, minutes: number): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const engines: CachingEngine[] = [];
  for (let server = 0; server < servers; server++) {
    engines.push(stack.use(await CachingEngine.start(model, speed)));
  }
  const [first] = engines as [CachingEngine];
  const running = await tollgateScaledOut.start({
    enginePort: Number(new URL(first.url).port),
    directory,
    models: [
      {
        ...{ id: model, context_length: 131_072, max_output: 32_768 },
        servers: engines.map(({ url }) => ({ url, engine: "vllm", capacity: 1000 })),
      },
    ],
  });
  stack.defer(() => running.stop());
  const random = new SeededRandom(seed);
  const beganAt = performance.now();
  const sent = ofOneAccount(seed, minutes).map(async (job) => {
    const port = running.ports[random.between(0, running.ports.length - 1)] as number;
    await pause(Math.max(0, beganAt + job.at / speed - performance.now()), "a request comes when its time is there");
    return ask(running, port, job);
  });
  const usages = await Promise.all(sent);
  const sum = (read: (usage: ChatUsage["usage"]) => number) => usages.reduce((total, usage) => total + read(usage), 0);
  return sum((usage) => usage.prompt_tokens_details?.cached_tokens ?? 0) / sum((usage) => usage.prompt_tokens);
}

async function ask({ host, headers, paths }: Running, port: number, job: Job): Promise<ChatUsage["usage"]> {
  const messages = job.turns.map((turn, at) => ({
    role: at === 0 ? "system" : at % 2 === 1 ? "user" : "assistant",
    content: toText(turn),
  }));
  const response = await fetch(`http://${host}:${port}${paths.chat}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, max_tokens: job.outputTokens }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  return ((await response.json()) as ChatUsage).usage;
}

function toFigures(found: readonly { readonly real: number; readonly simulated: number }[]): Figure[] {
  const base = { scenario: "two-cores", better: "higher" } as const;
  return [
    { ...base, name: "found in caches over HTTP", unit: "%", value: spread(found.map(({ real }) => real)) },
    { ...base, name: "found in caches in the simulation", unit: "%", value: spread(found.map((one) => one.simulated)) },
    {
      ...base,
      name: "away from the simulation",
      unit: "points",
      value: spread(found.map(({ real, simulated }) => Math.abs(real - simulated))),
      better: "lower",
      limit: mostApart,
    },
  ];
}
