import { parseUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import type { Config } from "#src/config/schema.ts";
import type { FundingState } from "../model/ledger.ts";

/** The part of the configuration that limits are derived from, with money in pico-USD. */
export interface RatePolicy {
  readonly tiers: readonly RateTier[];
  /** Bounds every key of an account that has only unpaid money. */
  readonly freeRpm: number;
  /** Bounds the requests at once of such an account. */
  readonly freeInFlight: number;
}

interface RateTier {
  readonly paid: bigint;
  readonly ageMs: number;
  readonly rpm: number;
  /** Requests at once. Undefined: as many as a key may send a minute. */
  readonly inFlight: number | undefined;
  /** How many times as many tokens as other accounts an account is served when all wait for a server. */
  readonly weight: number;
}

/** The requests a minute that a key may make. */
export interface MaxRpm {
  readonly limit: number;
  /** True when a top-up would raise the limit at once. */
  readonly freeTier: boolean;
}

/** Reads the policy from the configuration. */
export function findRatePolicy(config: Pick<Config, "rate_tiers" | "free_tier">): RatePolicy {
  const tiers = config.rate_tiers.map((tier) => ({
    paid: parseUsd(tier.paid_usd) ?? 0n,
    ageMs: tier.age_days * dayMs,
    rpm: tier.rpm,
    inFlight: tier.in_flight,
    weight: tier.weight,
  }));
  const { rpm, in_flight } = config.free_tier;
  return { tiers, freeRpm: rpm, freeInFlight: in_flight ?? rpm };
}

/**
 * The requests a minute that a key may make: its own limit, otherwise that of the best tier that its account has
 * reached. The free-tier cap bounds both while the account has only unpaid money.
 */
export function maxRpm(policy: RatePolicy, own: number | undefined, fundingState: FundingState, now: number): MaxRpm {
  const limit = own ?? pickBest(reachedTiers(policy, fundingState, now), ({ rpm }) => rpm);
  if (fundingState.freeOnly && policy.freeRpm < limit) {
    return { limit: policy.freeRpm, freeTier: true };
  }
  return { limit, freeTier: false };
}

/**
 * The requests that an account may run at once, by the best tier that it has reached. A tier without such a limit
 * allows as many as the key may send a minute, by its own limit or the tier's.
 */
export function maxInFlight(
  policy: RatePolicy,
  own: number | undefined,
  fundingState: FundingState,
  now: number,
): number {
  const tiers = reachedTiers(policy, fundingState, now);
  const limit = pickBest(tiers, ({ inFlight, rpm }) => inFlight ?? own ?? rpm);
  return fundingState.freeOnly ? Math.min(limit, policy.freeInFlight) : limit;
}

/**
 * How many times as many tokens as other accounts an account is served when all wait, by the best tier that it has
 * reached.
 */
export function turnWeight(policy: RatePolicy, fundingState: FundingState, now: number): number {
  return pickBest(reachedTiers(policy, fundingState, now), ({ weight }) => weight);
}

function reachedTiers({ tiers }: RatePolicy, { paidTotal, createdAt }: FundingState, now: number): RateTier[] {
  // The first tier has no age, so that a clock that went back shuts nobody out.
  return tiers.filter(({ paid, ageMs }) => paidTotal >= paid && (ageMs === 0 || now - createdAt >= ageMs));
}

function pickBest(tiers: readonly RateTier[], value: (tier: RateTier) => number): number {
  return tiers.reduce((best, tier) => Math.max(best, value(tier)), 0);
}
