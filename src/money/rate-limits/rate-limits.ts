import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type ErrorFacts, failure } from "#lib/errors/failure.ts";
import { type RateLimitState, withRateLimit } from "#lib/rpc/rate-limit.ts";
import type { Clock } from "#lib/time/clock.ts";
import { toDuration } from "#lib/time/duration.ts";
import type { Caller } from "#src/wire/principal.ts";
import type { FundingState } from "../model/ledger.ts";
import type { RateLimits } from "./interface.ts";
import { type MaxRpm, maxInFlight, maxRpm, type RatePolicy, turnWeight } from "./max-rpm.ts";
import { RecentRefusals } from "./recent-refusals.ts";
import { findLongestWait, quotaRefusal, toDemands, withTokens } from "./run-quotas.ts";
import type { WindowState, Windows } from "./windows.ts";

interface Dependencies {
  readonly policy: RatePolicy;
  readonly windows: Windows;
  /** As Ledger.fundingState. */
  readonly fundingState: (accountId: string) => FundingState | Promise<FundingState>;
  readonly clock: Clock;
}

/** Rate limits whose policy can be replaced. */
export interface ConfiguredRateLimits extends RateLimits {
  /** Applies this policy from the next request on. Counts stay. */
  adopt(policy: RatePolicy): void;
}

/**
 * Limits each key's requests and tokens a minute and its requests at once. The keys of a rotation chain share one limit, and an
 * account's service tokens do.
 */
export function createRateLimits(parts: Dependencies): ConfiguredRateLimits {
  const { windows, fundingState, clock } = parts;
  let { policy } = parts;
  const limitOf = async (caller: Caller) =>
    maxRpm(policy, caller.rpm, await fundingState(caller.accountId), clock.now());
  const nameOf = ({ accountId, keyId, limitsOf = keyId }: Caller) => limitsOf || accountId;
  const recent = new RecentRefusals(clock);
  /** The error for a request beyond the minute's limit. */
  const beyond = (
    caller: Caller,
    max: MaxRpm,
    window: WindowState,
    toldOf: (state: RateLimitState) => RateLimitState,
  ) => {
    const error = (laterMs: number) => {
      const waitMs = window.waitMs - laterMs;
      const resetAfterMs = Math.max(0, window.resetAfterMs - laterMs);
      const state = { ...window, waitMs, resetAfterMs };
      return withRateLimit(refusal(max, state), toldOf(toState(state)));
    };
    recent.noteWindow(nameOf(caller), { waitMs: window.waitMs, limit: max.limit, error });
    return error(0);
  };
  return {
    async begin(caller, tokenBound) {
      refuseFrozen(caller);
      const funding = await fundingState(caller.accountId);
      const now = clock.now();
      const places = caller.accountMaxInFlight ?? maxInFlight(policy, caller.rpm, funding, now);
      const max = maxRpm(policy, caller.rpm, funding, now);
      const demands = toDemands(caller, places, tokenBound);
      const run = await windows.begin(nameOf(caller), max.limit, demands);
      const { window, quotas, full } = run;
      const rateLimit = withTokens(toState(window), demands, quotas);
      const longest = full === undefined ? undefined : findLongestWait(quotas);
      if (longest !== undefined && longest.waitMs >= window.waitMs) {
        const demand = demands[quotas.indexOf(longest)];
        const error = () => withRateLimit(quotaRefusal(demand, longest), rateLimit);
        if (demand?.kind !== "tokens") {
          recent.notePlaces(caller.accountId, nameOf(caller), { waitMs: longest.waitMs, limit: longest.limit, error });
        }
        throw error();
      }
      if (!window.admitted) {
        throw beyond(caller, max, window, (state) => withTokens(state, demands, quotas));
      }
      const weight = turnWeight(policy, funding, now);
      return {
        rateLimit,
        turnWeight: weight,
        leave(tokens) {
          recent.free(caller.accountId);
          run.end(demands.map(({ kind }) => (kind === "tokens" ? tokens : 0)));
        },
      };
    },
    async admit(caller) {
      refuseFrozen(caller);
      const max = await limitOf(caller);
      const admission = await windows.admit(nameOf(caller), max.limit);
      if (!admission.admitted) {
        throw beyond(caller, max, admission, (state) => state);
      }
      return toState(admission);
    },
    refuseAgain(caller) {
      refuseFrozen(caller);
      if (!recent.has(caller.accountId, nameOf(caller))) {
        return;
      }
      return limitOf(caller).then(({ limit }) => {
        const error = recent.find(caller.accountId, nameOf(caller), (refused) => limit > refused);
        if (error !== undefined) {
          throw error;
        }
      });
    },
    async read(caller) {
      return toState(await windows.read(nameOf(caller), (await limitOf(caller)).limit));
    },
    adopt(other) {
      policy = other;
      recent.clear();
    },
  };
}

function toState({ limit, used, resetAfterMs }: WindowState): RateLimitState {
  return { limit, remaining: Math.max(0, limit - used), resetAfterMs };
}

/** Throws ACCOUNT_FROZEN: no new request of a frozen account runs. */
function refuseFrozen({ frozenReason }: Caller): void {
  if (frozenReason !== undefined) {
    throw failure(Reason.ACCOUNT_FROZEN, `The account is frozen: ${frozenReason}`);
  }
}

function refusal(max: MaxRpm, { limit, waitMs }: WindowState): ConnectError {
  const facts: ErrorFacts = {
    retryAfter: toDuration(waitMs),
    bound: { case: "requestRate", value: { requestsPerMinute: limit } },
  };
  const requests = `${limit} ${limit === 1 ? "request" : "requests"} per minute`;
  const retry = `Retry in ${Math.ceil(waitMs / 1000)} s`;
  return max.freeTier
    ? failure(
        Reason.FREE_TIER_LIMITED,
        `Accounts that have free-tier credit alone are limited to ${requests} per key. ${retry}, or top up: the cap lifts within a minute.`,
        facts,
      )
    : failure(Reason.RATE_LIMITED, `The rate limit of this key, ${requests}, is reached. ${retry}.`, facts);
}
