import { expect, test } from "@jest/globals";
import { addRateLimit } from "../../../../facades/http/response/rate-limit-headers.ts";

const now = Date.parse("2026-01-31T12:00:00.400Z");

test.each([
  [0, "0ms", "2026-01-31T12:00:00Z"],
  [12, "12ms", "2026-01-31T12:00:00Z"],
  [6000, "6s", "2026-01-31T12:00:06Z"],
  [59_700, "59.7s", "2026-01-31T12:01:00Z"],
])("reset after %d ms", (resetAfterMs, duration, at) => {
  const headers = {};
  addRateLimit(headers, { limit: 60, remaining: 3, resetAfterMs }, now);
  expect(headers).toEqual({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "3",
    "x-ratelimit-reset-requests": duration,
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "3",
    "anthropic-ratelimit-requests-reset": at,
  });
});

test("a limit of tokens is told beside that of requests", () => {
  const headers = {};
  const tokens = { limit: 10_000, remaining: 9000, resetAfterMs: 6000 };
  addRateLimit(headers, { limit: 60, remaining: 3, resetAfterMs: 0, tokens }, now);
  expect(headers).toMatchObject({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "10000",
    "x-ratelimit-remaining-tokens": "9000",
    "x-ratelimit-reset-tokens": "6s",
    "anthropic-ratelimit-tokens-limit": "10000",
    "anthropic-ratelimit-tokens-remaining": "9000",
    "anthropic-ratelimit-tokens-reset": "2026-01-31T12:00:06Z",
  });
});
