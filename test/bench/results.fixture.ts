import type { Measurement } from "./load.ts";
import type { Cell } from "./scenarios.ts";
import { type Result, summarise } from "./summary.ts";

export const plain: Cell = {
  scenario: "plain",
  surface: "chat",
  stream: false,
  model: "eager",
  size: 10,
  prompt: 60,
  concurrency: 16,
};

/** A round of a second that cost so many microseconds a request, with a first token after so many milliseconds. */
export function round(cpu: number, firstToken = 1): Measurement {
  const latency = { count: 1000, p50: firstToken, p90: firstToken, p99: firstToken * 2, max: firstToken * 3 };
  const counted = { duration: 1000, requests: 1000, words: 10_000, cpu: cpu * 1000, resident: 2 ** 20 };
  return { ...counted, firstWord: latency, whole: latency, errors: [] };
}

/** Results of the pass-through at 80 µs and of another system, both in three rounds. */
export function results(cell: Cell, system: string, cpu: number, firstToken = 1): Result[] {
  const raw = [round(80), round(80), round(80)];
  const other = [round(cpu * 0.99, firstToken), round(cpu, firstToken), round(cpu * 1.01, firstToken)];
  return [summarise(cell, "pass-through", raw, raw), summarise(cell, system, other, raw)];
}
