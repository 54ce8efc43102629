import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type ErrorFacts, failure } from "../../../lib/errors/failure.ts";
import { type RateLimitState, withRateLimit } from "../../../lib/rpc/rate-limit.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { durationOf } from "../../../lib/time/duration.ts";
import type { Caller } from "../../accounts/interface.ts";
import type { FundingState, RateLimits } from "../interface.ts";
import { InFlight } from "./in-flight.ts";
import { type MaxRpm, maxInFlight, maxRpm, type RatePolicy } from "./max-rpm.ts";
import type { WindowState, Windows } from "./windows.ts";

/** Dependencies. */
export interface RateLimitsOptions {
  readonly policy: RatePolicy;
  readonly windows: Windows;
  /** As Ledger.fundingState. */
  readonly fundingState: (accountId: string) => Promise<FundingState>;
  readonly clock: Clock;
}

/** Rate limits whose policy can be replaced. */
export interface ConfiguredRateLimits extends RateLimits {
  /** Limits by this policy from the next request on; what was counted stays counted. */
  adopt(policy: RatePolicy): void;
}

/** Limits each key to its requests a minute; an account's service tokens share one limit. */
export function createRateLimits(options: RateLimitsOptions): ConfiguredRateLimits {
  const { windows, fundingState, clock } = options;
  let { policy } = options;
  const limitOf = async (caller: Caller) =>
    maxRpm(policy, caller.rpm, await fundingState(caller.accountId), clock.now());
  const nameOf = (caller: Caller) => caller.keyId || caller.accountId;
  const inFlight = new InFlight();
  return {
    async begin(caller) {
      refuseFrozen(caller);
      const funding = await fundingState(caller.accountId);
      const now = clock.now();
      const leave = inFlight.enter(
        caller.accountId,
        caller.accountMaxInFlight ?? maxInFlight(policy, caller.rpm, funding, now),
      );
      try {
        const max = maxRpm(policy, caller.rpm, funding, now);
        const admission = await windows.admit(nameOf(caller), max.limit);
        if (!admission.admitted) {
          throw refusal(max, admission);
        }
        return { rateLimit: stateOf(admission), leave };
      } catch (error) {
        leave();
        throw error;
      }
    },
    async admit(caller) {
      refuseFrozen(caller);
      const max = await limitOf(caller);
      const admission = await windows.admit(nameOf(caller), max.limit);
      if (!admission.admitted) {
        throw refusal(max, admission);
      }
      return stateOf(admission);
    },
    async read(caller) {
      return stateOf(await windows.read(nameOf(caller), (await limitOf(caller)).limit));
    },
    adopt(other) {
      policy = other;
    },
  };
}

function stateOf({ limit, used, resetAfterMs }: WindowState): RateLimitState {
  return { limit, remaining: Math.max(0, limit - used), resetAfterMs };
}

/** Throws ACCOUNT_FROZEN: nothing new runs for a frozen account. */
function refuseFrozen({ frozenReason }: Caller): void {
  if (frozenReason !== undefined) {
    throw failure(Reason.ACCOUNT_FROZEN, `The account is frozen: ${frozenReason}`);
  }
}

function refusal(max: MaxRpm, { limit, waitMs, resetAfterMs }: WindowState): Error {
  const facts: ErrorFacts = {
    retryAfter: durationOf(waitMs),
    bound: { case: "requestRate", value: { requestsPerMinute: limit } },
  };
  const requests = `${limit} ${limit === 1 ? "request" : "requests"} per minute`;
  const retry = `Retry in ${Math.ceil(waitMs / 1000)} s`;
  const error = max.freeTier
    ? failure(
        Reason.FREE_TIER_LIMITED,
        `Accounts that have free-tier credit alone are limited to ${requests} per key. ${retry}, or top up: the cap lifts within a minute.`,
        facts,
      )
    : failure(Reason.RATE_LIMITED, `The rate limit of this key, ${requests}, is reached. ${retry}.`, facts);
  return withRateLimit(error, { limit, remaining: 0, resetAfterMs });
}
