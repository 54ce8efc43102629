import { inspectChat } from "../shared/inspection/inspect-chat.ts";
import { type Inspection, type Subject, toRemarks, warning } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { textIn } from "../shared/inspection/told.ts";
import { metricSum } from "../shared/prometheus.ts";
import { trtllm } from "./dialect.ts";

/** Inspects trtllm-serve with `/version`, its metrics and short chats. It does not report its limits. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const [version, metrics = ""] = await Promise.all([
    probe.json("/version"),
    probe.text({ path: "/prometheus/metrics" }),
  ]);
  const chat = await inspectChat(probe, trtllm, subject, {
    tools: "--tool_parser PARSER",
    reasoning: "--reasoning_parser PARSER",
  });
  return {
    version: textIn(version?.version),
    facts: chat.facts,
    remarks: [
      ...toRemarks([
        metricSum(metrics, "trtllm_num_requests_running") === undefined,
        warning(
          "publishes no load, so that routing has our own counts only: return_perf_metrics: true in the file of --extra_llm_api_options",
        ),
      ]),
      ...chat.remarks,
    ],
  };
}
