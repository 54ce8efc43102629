import { inspectChat } from "../shared/inspection/inspect-chat.ts";
import type { Inspection, Subject } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { openaiCompatible } from "./dialect.ts";

/** Inspects an unknown server with short chats. */
export function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  return inspectChat(probe, openaiCompatible, subject, {});
}
