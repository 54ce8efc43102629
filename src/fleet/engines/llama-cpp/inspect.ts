import { inspectChat } from "../shared/inspection/inspect-chat.ts";
import { type Inspection, type Subject, toRemarks, warning, wrong } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { fieldsIn, figureIn, textIn } from "../shared/inspection/told.ts";
import { metricSum } from "../shared/prometheus.ts";
import { llamaCpp } from "./dialect.ts";

/** Inspects llama-server with `/props`, `/metrics` and short chats. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const [props = {}, metrics = ""] = await Promise.all([probe.json("/props"), probe.text({ path: "/metrics" })]);
  const slots = figureIn(props.total_slots);
  const slotLength = figureIn(fieldsIn(props.default_generation_settings).n_ctx);
  const { server, model } = subject;
  const chat = await inspectChat(probe, llamaCpp, subject, { tools: "--jinja" });
  return {
    version: textIn(props.build_info),
    facts: { slots, "context length of a slot": slotLength, ...chat.facts },
    remarks: [
      ...toRemarks(
        [
          slotLength !== undefined && slotLength < model.context_length,
          wrong(
            `has ${slotLength} tokens a slot, fewer than context_length ${model.context_length}: -c is shared among the slots of -np`,
          ),
        ],
        [
          slots !== undefined && slots < server.capacity,
          warning(
            `has ${slots} slots, fewer than capacity: ${server.capacity}: set capacity: ${slots} of this server, or raise -np and -c`,
          ),
        ],
        [
          metricSum(metrics, "llamacpp:requests_processing") === undefined,
          warning("publishes no load, so that routing has our own counts only: --metrics"),
        ],
      ),
      ...chat.remarks,
    ],
  };
}
