import { expect } from "@jest/globals";
import type { SurfaceSample } from "../surface-sample.ts";
import { readChatStream } from "./response/stream-grammar.ts";

const invalid = "invalid_request_error";

/** The chat-completions-style surface, for the contract of surfaces. */
export const chatSample: SurfaceSample = {
  headers: { authorization: "Bearer tg-1" },
  path: "/v1/chat/completions",
  body: { model: "m", messages: [{ role: "user", content: "hi" }] },
  readError(json) {
    const { error } = json as { error: { message: string; type: string; param: string | null; code: string } };
    const { message, type, code } = error;
    expect(json).toEqual({ error: { message: expect.any(String), type, param: error.param, code } });
    return { kind: `${type} ${code}`, message };
  },
  readStream: (events) => readChatStream(events, { separateUsage: false }).content,
  refusals: {
    "unknown path": [404, `${invalid} unknown_url`],
    "wrong method": [405, `${invalid} method_not_allowed`],
    malformed: [400, `${invalid} invalid_value`],
    "too large": [413, `${invalid} request_too_large`],
    "bad JSON": [400, `${invalid} invalid_value`],
    "unsupported media": [415, `${invalid} unsupported_media_type`],
    "no key": [401, `${invalid} invalid_api_key`],
    "model not found": [404, `${invalid} model_not_found`],
    "rate-limited": [429, "rate_limit_error rate_limit_exceeded"],
    exhausted: [429, "insufficient_quota insufficient_quota"],
    overloaded: [503, "server_error overloaded"],
    "shutting down": [503, "server_error overloaded"],
  },
};
