import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { GetKeyStatusResponse } from "#gen/tollgate/accounts/v1/caller_requests_pb.js";
import type { KeyLimits, TestAuthResponse } from "#gen/tollgate/chat/v1/key_status_pb.js";
import { readLimits, showLimits } from "#lib/limits/key-limits.ts";
import { toMilliseconds } from "#lib/time/duration.ts";
import { decimal } from "../../http/json/decimal.ts";

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
        ...(key.limits?.expiresAt !== undefined && { expiresAt: rfc3339(key.limits.expiresAt) }),
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

function toLimits(key: ApiKey): KeyLimits {
  const { rpm, expires, usd, models = [], ...shown } = showLimits(readLimits(key.limits));
  return {
    $typeName: "tollgate.chat.v1.KeyLimits",
    ...shown,
    models: [...models],
    ...(key.limits?.budgetPicoUsd !== undefined && { usd: decimal(key.limits.budgetPicoUsd, 12) }),
    ...(key.budgetSpentPicoUsd !== undefined && { usdSpent: decimal(key.budgetSpentPicoUsd, 12) }),
    ...(key.budgetLeftPicoUsd !== undefined && { usdLeft: decimal(key.budgetLeftPicoUsd, 12) }),
    ...(key.budgetResetsAt !== undefined && { resetsAt: rfc3339(key.budgetResetsAt) }),
  };
}

function rfc3339(time: Timestamp): string {
  return timestampDate(time).toISOString();
}
