import type { IncomingHttpHeaders } from "node:http";

/** Headers in which clients name their session. The first one that is sent counts. */
const sessionHeaders = [
  "x-session-id",
  "x-session-affinity", // OpenCode
  "x-claude-code-session-id",
  "session_id", // Codex
  "session-id",
] as const;

/** The most characters of a session's name. The rest is cut off. */
const longestName = 256;

/** The name of the client's session, from the body or a header, at most 256 characters. Undefined: none. */
export function readSession(headers: IncomingHttpHeaders, inBody?: string): string | undefined {
  const name = inBody || sessionHeaders.map((header) => headers[header]).find((value) => value);
  return typeof name === "string" ? cut(name) : undefined;
}

/** Cuts a name without leaving half of a character, which a message could not carry. */
function cut(name: string): string {
  return name.slice(0, longestName).toWellFormed();
}
