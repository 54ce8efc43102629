import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type ApiKey, BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { GetKeyStatusResponse } from "#gen/tollgate/accounts/v1/caller_requests_pb.js";
import type { KeyLimits, TestAuthResponse } from "#gen/tollgate/chat/v1/key_status_pb.js";
import { readWiredClass } from "#lib/service-class.ts";
import { toMilliseconds } from "#lib/time/duration.ts";
import { decimal } from "../http/json/decimal.ts";

/** What a caller may know about its key, in this surface's format. */
export function keyStatus({
  key,
  accountId,
  rateLimit,
  balancePicoUsd,
  freeOnly,
  frozen,
}: GetKeyStatusResponse): TestAuthResponse {
  const { limit = 0, remaining = 0, resetAfter } = rateLimit ?? {};
  return {
    $typeName: "tollgate.chat.v1.TestAuthResponse",
    status: "active",
    ...(key !== undefined && {
      key: {
        $typeName: "tollgate.chat.v1.KeyStatus",
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        last4: key.last4,
        ...(key.expiresAt !== undefined && { expiresAt: rfc3339(key.expiresAt) }),
      },
    }),
    accountId,
    settings: { $typeName: "tollgate.chat.v1.KeySettings", maxRpm: limit },
    rateLimit: {
      $typeName: "tollgate.chat.v1.KeyRateLimit",
      limit,
      remaining,
      resetSeconds: resetAfter === undefined ? 0 : toMilliseconds(resetAfter) / 1000,
    },
    balanceUsd: decimal(balancePicoUsd, 12),
    freeOnly,
    frozen,
    ...(key !== undefined && { limits: toLimits(key) }),
  };
}

const periods: Readonly<Record<BudgetPeriod, string | undefined>> = {
  [BudgetPeriod.UNSPECIFIED]: undefined,
  [BudgetPeriod.TOTAL]: "total",
  [BudgetPeriod.DAY]: "day",
  [BudgetPeriod.WEEK]: "week",
  [BudgetPeriod.MONTH]: "month",
};

function toLimits(key: ApiKey): KeyLimits {
  const serviceClass = readWiredClass(key.serviceClass);
  const per = periods[key.budgetPeriod];
  return {
    $typeName: "tollgate.chat.v1.KeyLimits",
    ...(key.budgetPicoUsd !== undefined && { usd: decimal(key.budgetPicoUsd, 12) }),
    ...(per !== undefined && { per }),
    ...(key.budgetSpentPicoUsd !== undefined && { usdSpent: decimal(key.budgetSpentPicoUsd, 12) }),
    ...(key.budgetLeftPicoUsd !== undefined && { usdLeft: decimal(key.budgetLeftPicoUsd, 12) }),
    ...(key.budgetResetsAt !== undefined && { resetsAt: rfc3339(key.budgetResetsAt) }),
    models: key.models,
    ...(key.tokensPerMinute !== undefined && { tpm: key.tokensPerMinute }),
    ...(key.maxInFlight !== undefined && { inFlight: key.maxInFlight }),
    ...(serviceClass !== undefined && { class: serviceClass }),
  };
}

function rfc3339(time: Timestamp): string {
  return timestampDate(time).toISOString();
}
