import { expect } from "@jest/globals";
import type { SurfaceSample } from "../surface-sample.ts";
import { decodeStream } from "./response/stream-grammar.ts";

/** The messages-style surface, for the contract of surfaces. */
export const messagesSample: SurfaceSample = {
  headers: { "x-api-key": "tg-1", "anthropic-version": "2023-06-01" },
  path: "/v1/messages",
  body: { model: "m", max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
  readError(json) {
    const { error } = json as { error: { type: string; message: string } };
    const { type, message } = error;
    const requestId = expect.stringMatching(/^req_[0-9a-f]{32}$/);
    expect(json).toEqual({ type: "error", error: { type, message: expect.any(String) }, request_id: requestId });
    return { kind: type, message };
  },
  readStream: (events) => decodeStream(events).text,
  refusals: {
    "unknown path": [404, "not_found_error"],
    "wrong method": [405, "invalid_request_error"],
    malformed: [400, "invalid_request_error"],
    "too large": [413, "request_too_large"],
    "bad JSON": [400, "invalid_request_error"],
    "unsupported media": [415, "invalid_request_error"],
    "no key": [401, "authentication_error"],
    "model not found": [404, "not_found_error"],
    "rate-limited": [429, "rate_limit_error"],
    exhausted: [400, "invalid_request_error"],
    overloaded: [529, "overloaded_error"],
    "shutting down": [529, "overloaded_error"],
  },
};
