import { SeededRandom } from "../../seeded-random.ts";
import { PromptTree } from "./prompt-tree.ts";
import type { Trace, TracedRequest, TracedSession } from "./trace.ts";

/** What a part of all values stays below: 10, 50, 90, 99 and 100 %. */
type Quantiles = readonly [number, number, number, number, number];
const parts = [0.1, 0.5, 0.9, 0.99, 1] as const;

// Of Mooncake's conversations and of kv-cache-tester's agents, as counted in them.
const conversations = {
  requests: 12_031,
  ms: 3_540_000,
  prompt: [964, 6909, 27_367, 85_401, 126_195],
  output: [60, 350, 620, 900, 2000],
  following: 0.385,
  gapMs: [42_000, 123_000, 483_000, 1_482_000, 2_000_000],
} as const satisfies Record<string, number | Quantiles>;
const agents = {
  steps: [7, 42, 151, 237, 400],
  firstPrompt: [12_000, 20_160, 90_000, 120_000, 125_000],
  growth: [150, 600, 4000, 20_000, 40_000],
  output: [104, 211, 944, 4254, 8000],
  thinkMs: [4000, 10_000, 159_000, 2_462_000, 4_000_000],
  shared: 11_540,
} as const satisfies Record<string, number | Quantiles>;
const mostTokens = 131_072;

/** Requests like those of Mooncake's conversations: their lengths, how many go on, and after how long. */
export function makeConversations(speed: number, part = 1, seed = 7): Trace {
  const random = new SeededRandom(seed);
  const tree = new PromptTree(512);
  const blocks = new Blocks(tree);
  const sessions: TracedSession[] = [];
  const end = conversations.ms * part;
  const everyMs = conversations.ms / (conversations.requests * (1 - conversations.following));
  for (let start = 0; start < end; start += random.exponential(everyMs)) {
    let prompt = draw(random, conversations.prompt);
    for (let at = start, ids: number[] = []; at < end && prompt < mostTokens; ) {
      ids = blocks.grow(ids, prompt);
      const outputTokens = draw(random, conversations.output);
      sessions.push({
        at: at / speed,
        steps: [{ thinkMs: 0, request: { blocks: tree.insert(ids), promptTokens: prompt, outputTokens } }],
      });
      if (random.fraction() > conversations.following) {
        break;
      }
      prompt += outputTokens + draw(random, conversations.prompt) / 4;
      prompt = Math.floor(prompt);
      at += draw(random, conversations.gapMs);
    }
  }
  return { sessions: sessions.sort((one, other) => (one.at ?? 0) - (other.at ?? 0)), tree };
}

/** Sessions like those of kv-cache-tester's coding agents. They begin alike, unless they are apart. */
export function makeAgents(count: number, apart = false, seed = 7): Trace {
  const random = new SeededRandom(seed);
  const tree = new PromptTree(256);
  const blocks = new Blocks(tree);
  const beginning = apart ? [] : blocks.grow([], agents.shared);
  const sessions = Array.from({ length: count }, (): TracedSession => {
    const steps: { readonly thinkMs: number; readonly request: TracedRequest }[] = [];
    const most = draw(random, agents.steps);
    let prompt = draw(random, agents.firstPrompt);
    for (let ids = beginning.slice(0, prompt / tree.blockTokens); steps.length < most && prompt < mostTokens; ) {
      ids = blocks.grow(ids, prompt);
      const outputTokens = draw(random, agents.output);
      const thinkMs = steps.length === 0 ? 0 : draw(random, agents.thinkMs);
      steps.push({ thinkMs, request: { blocks: tree.insert(ids), promptTokens: prompt, outputTokens } });
      prompt += outputTokens + draw(random, agents.growth);
    }
    return { steps };
  });
  return { sessions, tree };
}

/** Blocks that no other prompt has. */
class Blocks {
  readonly #tokens: number;
  #ids = 0;

  constructor({ blockTokens }: PromptTree) {
    this.#tokens = blockTokens;
  }

  /** The full blocks of a prompt that goes on from another one. */
  grow(ids: readonly number[], promptTokens: number): number[] {
    const more = Math.floor(promptTokens / this.#tokens) - ids.length;
    return [...ids, ...Array.from({ length: Math.max(0, more) }, () => ++this.#ids)];
  }
}

/** A value that is distributed so, evenly in its logarithm between two quantiles. */
function draw(random: SeededRandom, quantiles: Quantiles): number {
  const part = random.fraction();
  const at = parts.findIndex((end) => part < end);
  const to = quantiles[at] as number;
  const from = quantiles[at - 1] ?? to / 4;
  const start = parts[at - 1] ?? 0;
  return Math.max(1, Math.round(from * (to / from) ** ((part - start) / ((parts[at] as number) - start))));
}
