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
/** The workload's time goes so many times faster than the clock, as slow machines can take it. */
const speed = 2;
const model = "chats";
/** Points that the part of tokens found in caches may be away from the simulation's. */
const mostApart = 2;
/** How long a request may take with all that it is sent again, in milliseconds. */
const timeoutMs = 60_000;

/** The chats of one account: with one key, its system prompts are shared. */
const ofOneAccount: Workload = (seed, minutes) => chats(seed, minutes).map((job) => ({ ...job, account: "one" }));

interface ChatUsage {
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  };
}

/** What came of some chats: the parts of prompt tokens that were found in caches, in percent, and how often a request was sent again. */
interface Found {
  readonly real: number;
  readonly simulated: number;
  readonly sentAgain: number;
}

/** What two cores and two facades find in the caches of engines, all over sockets, beside what the simulation finds. */
export const twoCores: Scenario = {
  name: "two-cores",
  shows: "what two cores find in the caches of engines over HTTP, beside the simulation of one",
  onlyNamed: true,
  async run({ options: { quick, rounds }, directory, progress }: Bench) {
    const minutes = quick ? 0.2 : 1;
    const found: Found[] = [];
    for (let seed = 1; seed <= (quick ? 1 : rounds); seed++) {
      progress(`chats with the seed ${seed}`);
      const setting = { workload: ofOneAccount, servers, minutes, seed };
      const simulated = 100 * simulate("prefix", setting).hitRate;
      found.push({ ...(await hitsOverHttp(`${directory}/${seed}`, seed, minutes)), simulated });
    }
    return { figures: toFigures(found) };
  },
};

/** The part of prompt tokens that the engines find in their caches. */
async function hitsOverHttp(directory: string, seed: number, minutes: number): Promise<Omit<Found, "simulated">> {
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
  const answers = await Promise.all(sent);
  const sum = (read: (answer: Answer) => number) => answers.reduce((total, answer) => total + read(answer), 0);
  const cached = sum(({ usage }) => usage.prompt_tokens_details?.cached_tokens ?? 0);
  return {
    real: (100 * cached) / sum(({ usage }) => usage.prompt_tokens),
    sentAgain: sum(({ sentAgain }) => sentAgain),
  };
}

interface Answer extends ChatUsage {
  readonly sentAgain: number;
}

/** Asks as clients do: again after `retry-after` where the service has no room. */
async function ask({ host, headers, paths }: Running, port: number, job: Job): Promise<Answer> {
  const messages = job.turns.map((turn, at) => ({
    role: at === 0 ? "system" : at % 2 === 1 ? "user" : "assistant",
    content: toText(turn),
  }));
  const signal = AbortSignal.timeout(timeoutMs);
  for (let sentAgain = 0; ; sentAgain++) {
    const response = await fetch(`http://${host}:${port}${paths.chat}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ model, messages, max_tokens: job.outputTokens }),
      signal,
    });
    if (response.ok) {
      return { ...((await response.json()) as ChatUsage), sentAgain };
    }
    const why = `${response.status} ${await response.text()}`;
    const seconds = response.headers.get("retry-after");
    if (response.status !== 503 || seconds === null) {
      throw new Error(why);
    }
    await pause(1000 * Number(seconds), why);
  }
}

function toFigures(found: readonly Found[]): Figure[] {
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
    {
      ...base,
      name: "sent again for want of room",
      unit: "requests",
      value: spread(found.map(({ sentAgain }) => sentAgain)),
      better: "lower",
    },
  ];
}
