import { inspectChat } from "../shared/inspection/inspect-chat.ts";
import type { Inspection, Subject } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { sglang } from "./dialect.ts";
import { readServerInfo } from "./server-info.ts";

/** Inspects SGLang with `/server_info` (`/get_server_info` before 2026) and short chats. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const info = readServerInfo((await probe.json("/server_info", "/get_server_info")) ?? {}, subject);
  const chat = await inspectChat(probe, sglang, subject, {
    cached: "--enable-cache-report",
    tools: "--tool-call-parser PARSER",
    reasoning: "--reasoning-parser PARSER",
  });
  return {
    version: info.version,
    facts: { ...info.facts, ...chat.facts },
    remarks: [...info.remarks, ...chat.remarks],
  };
}
