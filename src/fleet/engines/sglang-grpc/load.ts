import type { EngineLoad } from "../interface.ts";

/** The load of one data-parallel part of the engine. Field names differ between versions. */
interface PartLoad {
  readonly num_running_reqs?: number;
  /** Running and waiting requests together. */
  readonly num_reqs?: number;
  readonly num_waiting_reqs?: number;
  /** The part of the KV cache in use, and its size in tokens. */
  readonly token_usage?: number;
  readonly max_total_num_tokens?: number;
}

/** Adds up the load of an engine's parts. Undefined: no part reports a load that is understood. */
export function readLoad(json: string): EngineLoad | undefined {
  const parts = parse(json);
  if (parts.length === 0) {
    return undefined;
  }
  const waiting = sum(parts, ({ num_waiting_reqs = 0 }) => num_waiting_reqs);
  const all = sum(parts, ({ num_reqs, num_running_reqs = 0, num_waiting_reqs = 0 }) => {
    return num_reqs ?? num_running_reqs + num_waiting_reqs;
  });
  const usages = parts.flatMap(({ token_usage }) => token_usage ?? []);
  const kvTokens = sum(parts, ({ max_total_num_tokens = 0 }) => max_total_num_tokens);
  return {
    running: all - waiting,
    waiting,
    ...(usages.length > 0 && { kvUsage: Math.max(...usages) }),
    ...(kvTokens > 0 && { kvTokens }),
  };
}

function parse(json: string): readonly PartLoad[] {
  try {
    const parts: unknown = JSON.parse(json);
    return Array.isArray(parts) ? parts.map(partIn) : [];
  } catch {
    return [];
  }
}

/** The numbers of a part. Other values are left out. */
function partIn(part: unknown): PartLoad {
  const numbers = Object.entries(Object(part)).filter(([, value]) => typeof value === "number");
  return Object.fromEntries(numbers);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
