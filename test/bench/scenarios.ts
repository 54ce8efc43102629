import { TOKEN_WORD } from "./marker.ts";
import type { Surface } from "./systems/interface.ts";

/** One load, the same for every system. */
export interface Cell {
  /** The scenario that it belongs to. */
  readonly scenario: string;
  readonly surface: Surface;
  readonly stream: boolean;
  /** How the engine's tokens leave; a model of the load target. */
  readonly model: string;
  /** Tokens of the answer, or inputs of an embeddings request. */
  readonly size: number;
  /** Bytes of the prompt. */
  readonly prompt: number;
  readonly concurrency: number;
  /** Milliseconds over which the clients come in before anything is measured; 500 unless set. */
  readonly rampUp?: number;
  /** A light load whose latency is measured alone and then beside this one. */
  readonly beside?: Cell;
}

/** Every scenario, in the order in which they run. */
export const scenarioNames = ["plain", "stream", "embeddings", "split", "streams", "prompts"] as const;

export const SHORT_PROMPT = 60;
export const LONG_PROMPT = 50_000;

/** Tells cells apart, for people and for comparisons with earlier runs. */
export function cellName(cell: Cell): string {
  const what = cell.surface === "embeddings" ? "embeddings" : `${cell.surface} ${cell.stream ? "stream" : "plain"}`;
  const size = cell.surface === "embeddings" ? `${cell.size} inputs` : `${cell.size} tokens ${cell.model}`;
  const prompt = cell.prompt >= 1000 ? `${cell.prompt / 1000} KB` : "short";
  return `${what}, ${cell.concurrency} at once, ${size}, ${prompt}`;
}

/** The JSON body of a cell's request, and what its answer holds how many times. */
export function cellRequest(cell: Cell): { body: string; word: string; expected: number } {
  const text = "Tell me of the plains. ".repeat(Math.ceil(cell.prompt / 23)).slice(0, cell.prompt);
  if (cell.surface === "embeddings") {
    const body = { model: cell.model, input: Array.from({ length: cell.size }, () => text) };
    return { body: JSON.stringify(body), word: '"index":', expected: cell.size };
  }
  const streaming = cell.stream ? { stream: true } : {};
  const usage = cell.stream && cell.surface === "chat" ? { stream_options: { include_usage: true } } : {};
  const body = {
    model: cell.model,
    messages: [{ role: "user", content: text }],
    max_tokens: cell.size,
    ...streaming,
    ...usage,
  };
  return { body: JSON.stringify(body), word: TOKEN_WORD, expected: cell.size };
}

/** Which cells a scenario has, and which systems it compares. */
export interface Scenario {
  readonly cells: readonly Cell[];
  readonly systems: readonly string[];
}

const generation = { prompt: SHORT_PROMPT, model: "eager", surface: "chat" } as const;
const concurrencies = [1, 16, 64];

/** Every combination of surface, concurrency, tokens and prompt. */
function matrix(scenario: string, stream: boolean): Cell[] {
  return (["chat", "messages"] as const).flatMap((surface) =>
    concurrencies.flatMap((concurrency) =>
      [10, 200].flatMap((size) =>
        [SHORT_PROMPT, LONG_PROMPT].map((prompt) => ({
          ...generation,
          scenario,
          surface,
          stream,
          concurrency,
          size,
          prompt,
        })),
      ),
    ),
  );
}

/** Every scenario by name; `quick` keeps those cells that say most. A turn is measured for so many milliseconds. */
export function scenarios(
  quick: boolean,
  duration: number,
): Readonly<Record<(typeof scenarioNames)[number], Scenario>> {
  const systems = ["pass-through", "tollgate"];
  const plain = { ...generation, scenario: "plain", stream: false, concurrency: 16, size: 10 };
  const stream = { ...generation, scenario: "stream", stream: true, concurrency: 16, size: 200 };
  const firstToken = { ...stream, model: "paced", concurrency: 64, size: 10 };
  const newcomer = { ...plain, scenario: "streams", concurrency: 1 };
  const embeddings = { ...generation, scenario: "embeddings", surface: "embeddings", model: "embed" } as const;
  const split = [plain, stream].flatMap((cell) => [16, 64].map((concurrency) => ({ ...cell, concurrency })));
  return {
    plain: {
      systems,
      cells: quick
        ? [plain, { ...plain, surface: "messages" }]
        : [...matrix("plain", false), { ...plain, model: "burst" }, { ...plain, model: "burst", size: 200 }],
    },
    stream: {
      systems,
      cells: quick
        ? [stream, { ...stream, surface: "messages" }, firstToken]
        : [
            ...matrix("stream", true),
            { ...stream, model: "steady" },
            { ...stream, model: "steady", concurrency: 64 },
            firstToken,
            { ...firstToken, surface: "messages" },
          ],
    },
    embeddings: {
      systems,
      cells: (quick ? [16] : concurrencies).flatMap((concurrency) =>
        [1, 32].map((size) => ({ ...embeddings, stream: false, concurrency, size })),
      ),
    },
    split: {
      systems: [...systems, "tollgate-split"],
      cells: (quick ? split.filter(({ concurrency }) => concurrency === 16) : split).map((cell) => ({
        ...cell,
        scenario: "split",
      })),
    },
    streams: {
      systems,
      cells: (quick ? [500] : [100, 1000, 2500, 5000]).map((concurrency) => {
        const rampUp = 500 + concurrency * 3;
        // A token a second, and enough of them that every stream is open until the newcomers have been measured.
        const size = Math.ceil((rampUp + 2 * duration) / 1000) + 3;
        return { ...stream, scenario: "streams", model: "slow", concurrency, size, rampUp, beside: newcomer };
      }),
    },
    prompts: {
      systems,
      cells: (quick ? [SHORT_PROMPT, LONG_PROMPT] : [SHORT_PROMPT, 10_000, LONG_PROMPT, 200_000, 1_000_000]).map(
        (prompt) => ({ ...plain, scenario: "prompts", prompt, concurrency: 4 }),
      ),
    },
  };
}
