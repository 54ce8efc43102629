import { expect, test } from "@jest/globals";
import { readSession } from "../../../../facades/http/request/session.ts";

test.each<[string, Record<string, string | string[]>, string | undefined, string | undefined]>([
  ["nothing", {}, undefined, undefined],
  ["the body's", {}, "chat-7", "chat-7"],
  ["the body's before a header's", { "x-session-id": "a" }, "chat-7", "chat-7"],
  ["a header's where the body's is empty", { "x-session-id": "a" }, "", "a"],
  ["the most general header's", { session_id: "c", "x-session-affinity": "b", "x-session-id": "a" }, undefined, "a"],
  ["OpenCode's", { "x-session-affinity": "b" }, undefined, "b"],
  ["Claude Code's", { "x-claude-code-session-id": "c" }, undefined, "c"],
  ["Codex's", { session_id: "d" }, undefined, "d"],
  ["an empty header's, which is none", { "x-session-id": "" }, undefined, undefined],
  ["a header that says who the user is, which is none", { "x-user-id": "u" }, undefined, undefined],
  ["a long one's beginning", {}, "x".repeat(10_000), "x".repeat(256)],
  ["a long one's, without half a character", {}, `${"x".repeat(255)}😀`, `${"x".repeat(255)}\uFFFD`],
])("reads the session's name: %s", (_, headers, inBody, expected) => {
  expect(readSession(headers, inBody)).toBe(expected);
});
