import type { IncomingHttpHeaders } from "node:http";

/** Headers in which clients name their session, the first of them that is sent counts. */
const sessionHeaders = [
  "x-session-id",
  "x-session-affinity", // OpenCode
  "x-claude-code-session-id",
  "session_id", // Codex
  "session-id",
] as const;

/** Characters of a session's name that count. */
const longestName = 256;

/** The name that the client gives to its session, in the body or in a header, at most 256 characters. Undefined: none. */
export function readSession(headers: IncomingHttpHeaders, inBody?: string): string | undefined {
  const name = inBody || sessionHeaders.map((header) => headers[header]).find((value) => value);
  return typeof name === "string" ? cut(name) : undefined;
}

/** No half of a character is left, which a message could not carry. */
function cut(name: string): string {
  return name.slice(0, longestName).toWellFormed();
}
