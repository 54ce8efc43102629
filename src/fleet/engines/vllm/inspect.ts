import { inspectChat } from "../shared/inspection/inspect-chat.ts";
import { type Inspection, type Subject, toRemarks, warning } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { textIn } from "../shared/inspection/told.ts";
import { metricSum, readLabels } from "../shared/prometheus.ts";
import { readKvTokens, vllm } from "./dialect.ts";

/** Inspects vLLM with `/version`, `/metrics` and short chats. `/server_info` has its options in development only. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const [version, metrics = ""] = await Promise.all([probe.json("/version"), probe.text({ path: "/metrics" })]);
  const cache = readLabels(metrics, "vllm:cache_config_info");
  const generates = subject.model.kind === "generation";
  const chat = await inspectChat(probe, vllm, subject, {
    cached: "--enable-prompt-tokens-details",
    tools: "--enable-auto-tool-choice --tool-call-parser PARSER",
    reasoning: "--reasoning-parser PARSER",
  });
  const kvTokens = readKvTokens(metrics);
  return {
    version: textIn(version?.version),
    facts: {
      "KV cache tokens": kvTokens,
      "prefix caching": cache.enable_prefix_caching === undefined ? undefined : cache.enable_prefix_caching === "True",
      ...chat.facts,
    },
    remarks: [
      ...toRemarks(
        [
          metricSum(metrics, "vllm:num_requests_running") === undefined,
          warning(
            "publishes no load on /metrics, so that routing has our own counts only: leave out --disable-log-stats",
          ),
        ],
        [
          generates && cache.enable_prefix_caching === "False",
          warning("reads every prompt from its beginning: --enable-prefix-caching"),
        ],
      ),
      ...chat.remarks,
    ],
  };
}
