import { tokenWord } from "../load/marker.ts";
import type { Surface } from "../systems/interface.ts";

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
  /** Whose requests they are; the main one's unless set. */
  readonly tenant?: "other";
  /** Milliseconds over which the clients come in before anything is measured; 500 unless set. */
  readonly rampUp?: number;
  /** A light load whose latency is measured alone and then beside this one. */
  readonly beside?: Cell;
}

export const shortPrompt = 60;
export const longPrompt = 50_000;

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
  return { body: JSON.stringify(body), word: tokenWord, expected: cell.size };
}
