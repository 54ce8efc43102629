import { readCounts } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** Usage of trtllm-serve, running and final. */
export function toUsage(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  return {
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    completion_tokens: counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached },
  };
}
