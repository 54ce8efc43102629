import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { RateLimitStatusSchema } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { addRateLimit } from "../../../../facades/http/response/rate-limit-headers.ts";

const now = Date.parse("2026-01-31T12:00:00.400Z");

test.each([
  [undefined, "0ms", "2026-01-31T12:00:00Z"],
  [{ seconds: 0n, nanos: 12_000_000 }, "12ms", "2026-01-31T12:00:00Z"],
  [{ seconds: 6n, nanos: 0 }, "6s", "2026-01-31T12:00:06Z"],
  [{ seconds: 59n, nanos: 700_000_000 }, "59.7s", "2026-01-31T12:01:00Z"],
])("reset after %j", (resetAfter, duration, at) => {
  const status = create(RateLimitStatusSchema, { limit: 60, remaining: 3, ...(resetAfter && { resetAfter }) });
  const headers = {};
  addRateLimit(headers, status, now);
  expect(headers).toEqual({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "3",
    "x-ratelimit-reset-requests": duration,
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "3",
    "anthropic-ratelimit-requests-reset": at,
  });
});
