import type { Cell } from "../measure/cell.ts";
import type { Figure } from "../scenario.ts";
import { type Result, summarise, type Turn } from "./summary.ts";

export const plain: Cell = {
  scenario: "plain",
  surface: "chat",
  stream: false,
  model: "eager",
  size: 10,
  prompt: 60,
  concurrency: 16,
};

/** A turn of a second that cost so many microseconds a request, with a first token after so many milliseconds. */
export function turn(cpu: number, firstToken = 1): Turn {
  const latency = { count: 1000, p50: firstToken, p90: firstToken, p99: firstToken * 2, max: firstToken * 3 };
  const counted = {
    duration: 1000,
    requests: 1000,
    words: 10_000,
    cpu: cpu * 1000,
    disturbance: 0,
    idle: 0,
    resident: 2 ** 20,
  };
  return { load: { ...counted, firstWord: latency, whole: latency, errors: [] } };
}

/** Results of the pass-through at 80 µs and of another system, both in three rounds. */
export function results(cell: Cell, system: string, cpu: number, firstToken = 1): Result[] {
  const raw = [turn(80), turn(80), turn(80)];
  const other = [turn(cpu * 0.99, firstToken), turn(cpu, firstToken), turn(cpu * 1.01, firstToken)];
  return [summarise(cell, "pass-through", raw, raw), summarise(cell, system, other, raw)];
}

/** A figure that is not a cost. */
export function figure(value: number, better: Figure["better"], limit?: number): Figure {
  const spread = { median: value, min: value * 0.99, max: value * 1.01 };
  return { scenario: "ledger", name: "settlements", unit: "per s", value: spread, better, ...(limit && { limit }) };
}
