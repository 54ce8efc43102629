import { readCounts } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** The final usage of llama-server. */
export function toUsage(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  return {
    completion_tokens: counts.completion,
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached },
  };
}

/** `timings`: llama-server's running count. Its times are simulated GPU times, so that they are reproducible. */
export function toTimings(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  const { prefillPerSecond, stepBase, stepPerSequence } = call.model.gpu;
  const prompt = counts.prompt - counts.cached;
  const perToken = stepBase + stepPerSequence;
  return {
    cache_n: counts.cached,
    prompt_n: prompt,
    prompt_ms: (prompt / prefillPerSecond) * 1000,
    prompt_per_token_ms: 1000 / prefillPerSecond,
    prompt_per_second: prefillPerSecond,
    predicted_n: counts.completion,
    predicted_ms: counts.completion * perToken,
    predicted_per_token_ms: perToken,
    predicted_per_second: 1000 / perToken,
  };
}
