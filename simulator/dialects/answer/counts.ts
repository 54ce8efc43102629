import type { Call } from "../dialect.ts";

/** Token counts as they are reported. A fault may have made them wrong. */
export interface Counts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
}

/** The counts after `produced` output tokens. Undefined: a fault leaves them out. */
export function readCounts(call: Call, produced: number): Counts | undefined {
  const { sequence } = call.run;
  const prompt = sequence.work.prompt.length;
  const cached = call.cacheReport ? (sequence.cached ?? 0) : 0;
  switch (call.fault.usage) {
    case "missing":
      return undefined;
    case "zero":
      return { prompt: 0, completion: 0, cached: 0 };
    case "double":
      return { prompt, completion: produced * 2, cached };
    default:
      return { prompt, completion: produced, cached };
  }
}

/** Reasoning tokens in the whole output. */
export function reasoningTokens(call: Call): number {
  return call.run.output.kinds.reduce((count, kind) => count + (kind === "reasoning" ? 1 : 0), 0);
}
