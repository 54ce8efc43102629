import { tokenWord } from "../load/marker.ts";

/** The keys of the customers that a soak plays. */
export interface Keys {
  /** Of one account with plenty of money. */
  readonly rich: readonly string[];
  /** Plenty of money, a low rate limit. */
  readonly limited: string;
  /** Little money, more of it now and then. */
  readonly thin: string;
  readonly unknown: string;
}

/** A kind of request. */
export interface Kind {
  readonly name: string;
  /** How often it comes among the others. */
  readonly weight: number;
  readonly path: string;
  /** A GET when there is none. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly key: keyof Keys;
  /** The statuses that it may have. */
  readonly statuses: readonly number[];
  /** How often a whole answer holds the word of a token, and what it ends with. */
  readonly words?: number;
  readonly end?: string;
  /** The client leaves within so many milliseconds. */
  readonly leavesWithin?: number;
}

const messages = [{ role: "user", content: "Tell me of the plains." }];
const chat = (model: string, tokens: number, more: object = {}) => ({
  path: "/v1/chat/completions",
  body: { model, messages, max_tokens: tokens, ...more },
  key: "rich" as const,
  statuses: [200],
  words: tokens,
});
const chatStream = (model: string, tokens: number) => ({
  ...chat(model, tokens, { stream: true, stream_options: { include_usage: true } }),
  end: "data: [DONE]\n\n",
});
const message = (model: string, tokens: number, more: object = {}) => ({
  ...chat(model, tokens, more),
  path: "/v1/messages",
});
const messageStream = (model: string, tokens: number) => ({
  ...message(model, tokens, { stream: true }),
  end: 'data: {"type":"message_stop"}\n\n',
});
const embeddings = (inputs: number) => ({
  path: "/v1/embeddings",
  body: { model: "embed", input: Array(inputs).fill("Tell me of the plains.") },
  key: "rich" as const,
  statuses: [200],
});

/** A model whose only server does not exist. */
export const goneModel = "gone";

/** What customers do all day, on both surfaces, and what goes wrong with it. */
export const mix: readonly Kind[] = [
  { name: "chat", weight: 20, ...chat("eager", 10) },
  { name: "message", weight: 15, ...message("eager", 10) },
  { name: "chat stream", weight: 15, ...chatStream("paced", 50) },
  { name: "message stream", weight: 10, ...messageStream("paced", 50) },
  { name: "slow stream", weight: 3, ...chatStream("slow", 10) },
  {
    name: "long prompt",
    weight: 2,
    ...chat("eager", 10, { messages: [{ role: "user", content: "x".repeat(50_000) }] }),
  },
  { name: "embeddings, 1 input", weight: 5, ...embeddings(1) },
  { name: "embeddings, 16 inputs", weight: 3, ...embeddings(16) },
  { name: "left chat stream", weight: 5, ...chatStream("paced", 200), leavesWithin: 1500 },
  { name: "left message stream", weight: 5, ...messageStream("paced", 200), leavesWithin: 1500 },
  { name: "left chat", weight: 3, ...chat("paced", 50), leavesWithin: 500 },
  { name: "over its limit", weight: 5, ...chat("eager", 10), key: "limited", statuses: [200, 429] },
  { name: "chat, short of money", weight: 3, ...chat("eager", 50), key: "thin", statuses: [200, 429] },
  { name: "message, short of money", weight: 3, ...message("eager", 50), key: "thin", statuses: [200, 400, 429] },
  { name: "no server", weight: 1, ...chat(goneModel, 10), statuses: [503] },
  { name: "no such model", weight: 2, ...chat("absent", 10), statuses: [404] },
  { name: "wrong field", weight: 2, ...chat("eager", -1), statuses: [400] },
  { name: "unknown key", weight: 1, ...chat("eager", 10), key: "unknown", statuses: [401, 429] },
  { name: "models", weight: 2, path: "/v1/models", key: "rich", statuses: [200] },
];

const total = mix.reduce((sum, { weight }) => sum + weight, 0);
const bounds = mix.map((_, at) => mix.slice(0, at + 1).reduce((sum, { weight }) => sum + weight, 0) / total);

/** Which kind a number from 0 to 1 stands for, by weight. */
export function kindAt(part: number): Kind {
  return mix[bounds.findIndex((bound) => part < bound)] ?? (mix.at(-1) as Kind);
}

/** What is wrong with an answer; undefined when nothing is. */
export function complaint(kind: Kind, status: number, text: string): string | undefined {
  if (!kind.statuses.includes(status)) {
    return `status ${status}: ${text.slice(0, 300)}`;
  }
  if (status !== 200) {
    return undefined;
  }
  const words = text.split(tokenWord).length - 1;
  if (kind.words !== undefined && words !== expectedWords(kind, words)) {
    return `${words} of ${kind.words} tokens`;
  }
  if (kind.end !== undefined && !text.endsWith(kind.end)) {
    return `ends with ${JSON.stringify(text.slice(-60))}`;
  }
  return undefined;
}

/** A customer short of money gets a shorter answer, and any other the whole one. */
function expectedWords({ key, words = 0 }: Kind, counted: number): number {
  return key === "thin" && counted > 0 ? Math.min(counted, words) : words;
}
