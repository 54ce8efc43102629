import { readCounts } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** Usage as SGLang reports it with `--enable-cache-report`. Cached tokens are included only when there are any. */
export function toUsage(call: Call, produced: number, reasoning: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  return {
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    completion_tokens: counts.completion,
    prompt_tokens_details: counts.cached > 0 ? { cached_tokens: counts.cached } : null,
    reasoning_tokens: reasoning,
  };
}
