import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";

const hourMs = 3_600_000n;

/** A model's earnings in a span of time, in pico-USD. */
export interface Earned {
  readonly model: string;
  readonly amount: bigint;
}

/** What a model earned beside what its servers cost, in pico-USD. */
export interface Margin {
  readonly model: string;
  readonly revenue: bigint;
  /** Undefined: one of its servers has no price, or it has none. */
  readonly cost: bigint | undefined;
}

/**
 * The margin of each model that is served or has earned something, in the order of their names. A server that serves
 * several models costs each of them the same part; what cannot be shared evenly is the first one's.
 */
export function toMargins(
  earned: readonly Earned[],
  servers: readonly Pick<Server, "url" | "model" | "picoUsdPerHour">[],
  spanMs: bigint,
): Margin[] {
  const revenues = new Map<string, bigint>();
  for (const { model, amount } of earned) {
    revenues.set(model, (revenues.get(model) ?? 0n) + amount);
  }
  const costs = toCosts(servers, spanMs);
  const models = new Set([...revenues.keys(), ...costs.keys()]);
  return [...models].toSorted().map((model) => ({
    ...{ model, revenue: revenues.get(model) ?? 0n },
    cost: costs.get(model),
  }));
}

/** What the servers of each model cost. Undefined: one of them has no price. */
function toCosts(servers: Parameters<typeof toMargins>[1], spanMs: bigint): Map<string, bigint | undefined> {
  const costs = new Map<string, bigint | undefined>();
  // All addresses of a name have one price together.
  for (const sharing of Map.groupBy(servers, ({ url }) => url).values()) {
    const models = [...new Set(sharing.map(({ model }) => model))].toSorted();
    const perHour = sharing.find(({ picoUsdPerHour }) => picoUsdPerHour !== undefined)?.picoUsdPerHour;
    const whole = perHour === undefined ? undefined : (perHour * spanMs) / hourMs;
    for (const [at, model] of models.entries()) {
      const before = costs.has(model) ? costs.get(model) : 0n;
      const part = whole === undefined ? undefined : partOf(whole, models.length, at);
      costs.set(model, before === undefined || part === undefined ? undefined : before + part);
    }
  }
  return costs;
}

function partOf(whole: bigint, parts: number, at: number): bigint {
  const each = whole / BigInt(parts);
  return at === 0 ? whole - each * BigInt(parts - 1) : each;
}
