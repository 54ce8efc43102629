import { parseUsd } from "../../../lib/money.ts";
import type { Config } from "../../config/schema.ts";
import type { FundingState } from "../interface.ts";

const DAY_MS = 86_400_000;

/** The part of the configuration that limits follow from, with money in pico-USD. */
export interface RatePolicy {
  readonly tiers: readonly { readonly paid: bigint; readonly ageMs: number; readonly rpm: number }[];
  /** Bounds every key of an account that has unpaid money alone. */
  readonly freeRpm: number;
}

/** Requests a minute that a key has. */
export interface MaxRpm {
  readonly limit: number;
  /** A top-up would raise it at once. */
  readonly freeTier: boolean;
}

/** Reads the policy from the configuration. */
export function ratePolicyOf(config: Pick<Config, "rate_tiers" | "free_tier">): RatePolicy {
  const tiers = config.rate_tiers.map((tier) => ({
    paid: parseUsd(tier.paid_usd) ?? 0n,
    ageMs: tier.age_days * DAY_MS,
    rpm: tier.rpm,
  }));
  return { tiers, freeRpm: config.free_tier.rpm };
}

/**
 * What a key may do a minute: its own limit, else the best tier that its account has reached; the
 * free-tier cap bounds both while the account has unpaid money alone.
 */
export function maxRpm(policy: RatePolicy, own: number | undefined, fundingState: FundingState, now: number): MaxRpm {
  const limit = own ?? bestTier(policy, fundingState.paidTotal, now - fundingState.createdAt);
  if (fundingState.freeOnly && policy.freeRpm < limit) return { limit: policy.freeRpm, freeTier: true };
  return { limit, freeTier: false };
}

function bestTier(policy: RatePolicy, paid: bigint, ageMs: number): number {
  let best = 0;
  for (const tier of policy.tiers) {
    // The first tier has no age, so that a clock that went back shuts nobody out.
    const reached = paid >= tier.paid && (tier.ageMs === 0 || ageMs >= tier.ageMs);
    if (reached && tier.rpm > best) best = tier.rpm;
  }
  return best;
}
