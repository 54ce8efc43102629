import { readCounts } from "../answer/counts.ts";
import type { Call } from "../dialect.ts";

/** The only usage that Ollama reports: at the end, without details. */
export function toUsage(call: Call, produced: number) {
  const counts = readCounts(call, produced);
  if (counts === undefined) {
    return undefined;
  }
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
  };
}
