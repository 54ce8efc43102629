import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { RateLimitState } from "#lib/rpc/rate-limit.ts";
import { toDuration } from "#lib/time/duration.ts";
import type { Caller } from "#src/wire/principal.ts";
import type { QuotaDemand, QuotaState } from "./quota.ts";

/** The part of a limit that a run demands, and the limit's kind. */
export interface RunDemand extends QuotaDemand {
  readonly kind: "key places" | "account places" | "tokens";
}

/** The parts of limits that a request takes while it runs, in the order in which they are checked. */
export function toDemands(
  { accountId, keyId, limitsOf = keyId, maxInFlight, tokensPerMinute }: Caller,
  accountPlaces: number,
  tokenBound: number,
): RunDemand[] {
  const demands: RunDemand[] = [];
  if (maxInFlight !== undefined) {
    demands.push({ kind: "key places", name: `places:${limitsOf}`, limit: maxInFlight, amount: 1 });
  }
  demands.push({ kind: "account places", name: `places:${accountId}`, limit: accountPlaces, amount: 1 });
  if (tokensPerMinute !== undefined) {
    const amount = Math.max(1, tokenBound);
    demands.push({ kind: "tokens", name: `tokens:${limitsOf}`, limit: tokensPerMinute, amount });
  }
  return demands;
}

/** Adds the key's state in tokens a minute, if it has such a limit. */
export function withTokens(
  state: RateLimitState,
  demands: readonly RunDemand[],
  quotas: readonly QuotaState[],
): RateLimitState {
  const tokens = quotas[demands.findIndex(({ kind }) => kind === "tokens")];
  if (tokens === undefined) {
    return state;
  }
  const { limit, used, resetAfterMs } = tokens;
  return { ...state, tokens: { limit, remaining: Math.max(0, limit - used), resetAfterMs } };
}

/** The quota with the longest wait: a caller that comes back after it meets none of them. Of equal ones, the first. */
export function findLongestWait(quotas: readonly QuotaState[]): QuotaState | undefined {
  return quotas.reduce<QuotaState | undefined>(
    (longest, quota) => (longest !== undefined && longest.waitMs >= quota.waitMs ? longest : quota),
    undefined,
  );
}

/** The error RATE_LIMITED for a request that does not fit a quota. */
export function quotaRefusal(demand: RunDemand | undefined, state: QuotaState | undefined): ConnectError {
  if (demand === undefined || state === undefined) {
    throw new Error("a quota was refused that nobody asked for");
  }
  const { limit, waitMs } = state;
  const retryAfter = toDuration(waitMs);
  if (demand.kind === "tokens") {
    const message = `The rate limit of this key, ${limit} tokens per minute, is reached: this request may take ${demand.amount}. Retry in ${Math.ceil(waitMs / 1000)} s.`;
    return failure(Reason.RATE_LIMITED, message, { retryAfter });
  }
  const who = demand.kind === "key places" ? "key" : "account";
  const requests = `${limit} ${limit === 1 ? "request" : "requests"}`;
  return failure(
    Reason.RATE_LIMITED,
    `This ${who} may run ${requests} at once, and as many are running. Retry in 1 s, or when one has ended.`,
    { retryAfter, bound: { case: "concurrency", value: { requests: limit } } },
  );
}
