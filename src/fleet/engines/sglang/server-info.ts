import type { Fields } from "../shared/chat-completions/dialect.ts";
import { type Inspection, type Subject, toRemarks, warning, wrong } from "../shared/inspection/inspection.ts";
import { figureIn, flagIn, textIn } from "../shared/inspection/told.ts";

/**
 * Reads what SGLang reports about its options: the fields of its ServerArgs, and the values that its scheduler chose.
 */
export function readServerInfo(info: Fields, { server, model }: Subject): Inspection {
  const running = figureIn(info.max_running_requests);
  const generates = model.kind === "generation";
  return {
    version: textIn(info.version),
    facts: {
      "context length": figureIn(info.context_length),
      "running requests": running,
      "KV cache tokens": figureIn(info.max_total_num_tokens),
      "prefix caching": info.disable_radix_cache === undefined ? undefined : info.disable_radix_cache !== true,
      "tool parser": textIn(info.tool_call_parser),
      "reasoning parser": textIn(info.reasoning_parser),
      metrics: flagIn(info.enable_metrics),
    },
    remarks: toRemarks(
      [
        info.allow_auto_truncate === true,
        wrong("cuts what is too long and says nothing: leave out --allow-auto-truncate"),
      ],
      [
        running !== undefined && running < server.capacity,
        warning(
          `runs ${running} requests at once, fewer than capacity: ${server.capacity}: lower that, or raise --max-running-requests`,
        ),
      ],
      [
        info.enable_metrics === false,
        warning("publishes no load, so that routing has our own counts only: --enable-metrics"),
      ],
      [
        generates && info.disable_radix_cache === true,
        warning("reads every prompt from its beginning: leave out --disable-radix-cache"),
      ],
      [
        generates && info.tool_call_parser === null,
        warning("leaves tool calls in the text: --tool-call-parser PARSER"),
      ],
    ),
  };
}
