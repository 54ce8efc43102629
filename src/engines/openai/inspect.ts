import { inspectChat } from "../inspection/inspect-chat.ts";
import type { Inspection, Subject } from "../inspection/inspection.ts";
import type { Probe } from "../inspection/probe.ts";
import { openai } from "./dialect.ts";

/** Inspects a server of which nothing is known, by short chats. */
export function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  return inspectChat(probe, openai, subject, {});
}
