import { readCounts, reasoningTokens } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** Usage as OpenAI's API defines it. */
export function toUsage(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached },
    completion_tokens_details: { reasoning_tokens: reasoningTokens(call) },
  };
}
