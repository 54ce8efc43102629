import { type PricedServer, toServerCosts } from "#lib/money/server-costs.ts";

/** A model's earnings in a span of time, in pico-USD. */
export interface Earned {
  readonly model: string;
  readonly amount: bigint;
}

/** A model's earnings and the cost of its servers, in pico-USD. */
export interface Margin {
  readonly model: string;
  readonly revenue: bigint;
  /** Undefined: one of its servers has no price, or it has no server. */
  readonly cost: bigint | undefined;
}

/**
 * The margin of each model that is served or has earned something, ordered by name. A server of several models costs
 * each of them the same part; a remainder goes to the first model.
 */
export function toMargins(earned: readonly Earned[], servers: readonly PricedServer[], spanMs: bigint): Margin[] {
  const revenues = new Map<string, bigint>();
  for (const { model, amount } of earned) {
    revenues.set(model, (revenues.get(model) ?? 0n) + amount);
  }
  const costs = toServerCosts(servers, spanMs);
  const models = new Set([...revenues.keys(), ...costs.keys()]);
  return [...models].toSorted().map((model) => ({ model, revenue: revenues.get(model) ?? 0n, cost: costs.get(model) }));
}
