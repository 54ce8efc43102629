import { type Counts, readCounts, reasoningTokens } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** The final usage, as with `--enable-prompt-tokens-details`. */
export function toUsage(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  const thinks = call.model.traits.thinking.mode !== "none";
  return {
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    completion_tokens: counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached },
    ...(thinks && { completion_tokens_details: { reasoning_tokens: reasoningTokens(call) } }),
  };
}

/** The usage field of a chunk under `continuous_usage_stats`, as JSON with a leading comma. */
export function runningUsage(call: Call, { prompt, completion }: Counts, reasoning: number): string {
  const details = call.model.traits.thinking.mode === "none" ? "null" : `{"reasoning_tokens":${reasoning}}`;
  return `,"usage":{"prompt_tokens":${prompt},"total_tokens":${prompt + completion},"completion_tokens":${completion},"completion_tokens_details":${details}}`;
}
