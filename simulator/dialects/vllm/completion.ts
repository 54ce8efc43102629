import type { CompletionStyle } from "../answer/completion.ts";
import { readCounts } from "../answer/counts.ts";
import { toUsage } from "./usage.ts";

/** Text completions of vLLM. */
export const completionStyle: CompletionStyle = {
  fields: { system_fingerprint: null },
  choice: ({ request, run }, at, last) => ({
    stop_reason: last ? (run.output.stopSequence ?? null) : null,
    token_ids: request.returnTokenIds ? [run.output.ids[at]] : null,
  }),
  usage: toUsage,
  running(call, produced) {
    const counts = call.request.continuousUsage ? readCounts(call, produced) : undefined;
    if (counts === undefined) {
      return {};
    }
    const { prompt, completion } = counts;
    return { usage: { prompt_tokens: prompt, total_tokens: prompt + completion, completion_tokens: completion } };
  },
};
