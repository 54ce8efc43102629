import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readRefusedLimit } from "#src/wire/interceptors/observation/refused-limit.ts";

const requestRate = { case: "requestRate", value: { requestsPerMinute: 1 } } as const;
const concurrency = { case: "concurrency", value: { requests: 1 } } as const;
const none = { case: undefined };

test.each([
  [Reason.RATE_LIMITED, requestRate, "requests"],
  [Reason.RATE_LIMITED, concurrency, "in_flight"],
  [Reason.RATE_LIMITED, none, "tokens"],
  [Reason.FREE_TIER_LIMITED, requestRate, "free_tier"],
  [Reason.BUDGET_EXHAUSTED, none, "budget"],
  [Reason.BUDGET_HELD, none, "budget_held"],
  [Reason.BALANCE_EXHAUSTED, none, "balance"],
  [Reason.BALANCE_HELD, none, "balance_held"],
  [Reason.ACCOUNT_FROZEN, none, "frozen"],
  [Reason.ENGINE_FAILED, none, undefined],
])("reason %s with %j is a refusal by %s", (reason, bound, limit) => {
  expect(readRefusedLimit(create(ErrorDetailSchema, { reason, bound }))).toBe(limit);
});
