import type { Config } from "#src/config/schema.ts";
import type { ConfiguredCatalogue } from "#src/fleet/catalogue/catalogue.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import { findRatePolicy } from "#src/money/rate-limits/max-rpm.ts";
import type { ConfiguredRateLimits } from "#src/money/rate-limits/rate-limits.ts";

/**
 * Takes over models, servers, prices and rate limits from another configuration. Throws, and changes nothing, when it
 * cannot.
 */
export type Reload = (config: Config) => Promise<void>;

/** The parts that a reload changes. */
export interface Reloadable {
  readonly catalogue: ConfiguredCatalogue;
  readonly fleet: Fleet;
  readonly prices: PriceList;
  readonly rateLimits: ConfiguredRateLimits;
}

export function createReload({ catalogue, fleet, prices, rateLimits }: Reloadable): Reload {
  return async (config) => {
    const models = catalogue.describe(config.models, new Date());
    const change = fleet.prepare(models);
    try {
      await prices.adopt(models);
    } catch (error) {
      change.discard();
      throw error;
    }
    change.apply();
    catalogue.replace(models);
    rateLimits.adopt(findRatePolicy(config));
  };
}
