import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { RateLimitState } from "../../../lib/rpc/rate-limit.ts";
import { durationOf } from "../../../lib/time/duration.ts";
import type { Caller } from "../../accounts/interface.ts";
import type { QuotaState, QuotaWish } from "./quota.ts";

/** A part of a limit that a run asks for, and the limit's kind. */
export interface RunWish extends QuotaWish {
  readonly kind: "key places" | "account places" | "tokens";
}

/** The parts of its limits that a request takes while it runs, in the order in which it is refused. */
export function wishesOf(
  { accountId, keyId, limitsOf = keyId, maxInFlight, tokensPerMinute }: Caller,
  accountPlaces: number,
  tokenBound: number,
): RunWish[] {
  const wishes: RunWish[] = [];
  if (maxInFlight !== undefined) {
    wishes.push({ kind: "key places", name: `places:${limitsOf}`, limit: maxInFlight, amount: 1 });
  }
  wishes.push({ kind: "account places", name: `places:${accountId}`, limit: accountPlaces, amount: 1 });
  if (tokensPerMinute !== undefined) {
    const amount = Math.max(1, tokenBound);
    wishes.push({ kind: "tokens", name: `tokens:${limitsOf}`, limit: tokensPerMinute, amount });
  }
  return wishes;
}

/** Adds where a key stands in tokens a minute, if it has such a limit. */
export function withTokens(
  state: RateLimitState,
  wishes: readonly RunWish[],
  quotas: readonly QuotaState[],
): RateLimitState {
  const tokens = quotas[wishes.findIndex(({ kind }) => kind === "tokens")];
  if (tokens === undefined) {
    return state;
  }
  const { limit, used, resetAfterMs } = tokens;
  return { ...state, tokens: { limit, remaining: Math.max(0, limit - used), resetAfterMs } };
}

/** The error RATE_LIMITED for a request that does not fit a quota. */
export function quotaRefusal(wish: RunWish | undefined, state: QuotaState | undefined): ConnectError {
  if (wish === undefined || state === undefined) {
    throw new Error("a quota was refused that nobody asked for");
  }
  const { limit, waitMs } = state;
  const retryAfter = durationOf(waitMs);
  if (wish.kind === "tokens") {
    const message = `The rate limit of this key, ${limit} tokens per minute, is reached: this request may take ${wish.amount}. Retry in ${Math.ceil(waitMs / 1000)} s.`;
    return failure(Reason.RATE_LIMITED, message, { retryAfter });
  }
  const who = wish.kind === "key places" ? "key" : "account";
  const requests = `${limit} ${limit === 1 ? "request" : "requests"}`;
  return failure(
    Reason.RATE_LIMITED,
    `This ${who} may run ${requests} at once, and as many are running. Retry in 1 s, or when one has ended.`,
    { retryAfter, bound: { case: "concurrency", value: { requests: limit } } },
  );
}
