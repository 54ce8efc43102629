import type { Dialect } from "../chat-completions/dialect.ts";
import { trialRequest, tryChat } from "./chat-trial.ts";
import { inspectStops } from "./inspect-stops.ts";
import { inspectThinking } from "./inspect-thinking.ts";
import { type Inspection, type Subject, toRemarks, warning, wrong } from "./inspection.ts";
import type { Probe } from "./probe.ts";

/** The engine's options that fix what a chat shows. Undefined: no option does. */
export interface ChatOptions {
  /** Makes it report the tokens that came from the cache. */
  readonly cached?: string;
  readonly tools?: string;
  readonly reasoning?: string;
}

/** Learns from a few short chats what a server does not report otherwise. Returns nothing for an embedding model. */
export async function inspectChat(
  probe: Probe,
  dialect: Dialect,
  subject: Subject,
  options: ChatOptions,
): Promise<Inspection> {
  if (subject.model.kind === "embedding") {
    return { facts: {}, remarks: [] };
  }
  const first = await tryChat(probe, dialect, trialRequest(subject, {}));
  if (first.refusal !== undefined) {
    return { facts: {}, remarks: [wrong(`refuses a short chat: ${first.refusal}`)] };
  }
  const again = await tryChat(probe, dialect, trialRequest(subject, {}));
  const tools = await tryChat(probe, dialect, trialRequest(subject, { tool: true, maxOutputTokens: 1 }));
  const thoughts = await inspectThinking(probe, dialect, subject, options.reasoning);
  const stops = await inspectStops(probe, dialect, subject);
  return {
    facts: {
      counts: first.countsAsItGoes ? "as it goes" : "at the end",
      "cached tokens": again.cachedTokens > 0 ? "told" : "not told",
      "tool calls": tools.refusal === undefined ? "taken" : "refused",
      ...thoughts.facts,
      ...stops.facts,
    },
    remarks: [
      ...toRemarks(
        [
          dialect.countsAsItGoes && !first.countsAsItGoes,
          wrong("counts tokens at the end only, so that broken-off answers are billed too little: use a newer version"),
        ],
        [
          options.cached !== undefined && again.cachedTokens === 0,
          warning(`does not tell which prompt tokens came from its cache: ${options.cached}`),
        ],
        [
          tools.refusal !== undefined,
          warning(`refuses tools (${tools.refusal})${options.tools === undefined ? "" : `: ${options.tools}`}`),
        ],
      ),
      ...thoughts.remarks,
      ...stops.remarks,
    ],
  };
}
