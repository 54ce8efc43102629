const hourMs = 3_600_000n;

/** A model of a server, and the server's cost an hour in pico-USD. Absent: it has no price. */
export interface PricedServer {
  readonly url: string;
  readonly model: string;
  readonly picoUsdPerHour?: bigint | undefined;
}

/**
 * The cost of the servers of each model in a span of time, in pico-USD. Undefined: one of them has no price. A server
 * of several models costs each of them the same part; a remainder goes to the first model.
 */
export function toServerCosts(servers: readonly PricedServer[], spanMs: bigint): Map<string, bigint | undefined> {
  const costs = new Map<string, bigint | undefined>();
  // All addresses of a name share one price.
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

/** The cost of all servers in an hour, each counted once. Undefined: one of them has no price, or there are none. */
export function toHourlyCost(servers: readonly PricedServer[]): bigint | undefined {
  const costs = [...toServerCosts(servers, hourMs).values()];
  const known = costs.filter((cost) => cost !== undefined);
  return costs.length === 0 || known.length < costs.length ? undefined : known.reduce((sum, cost) => sum + cost, 0n);
}

function partOf(whole: bigint, parts: number, at: number): bigint {
  const each = whole / BigInt(parts);
  return at === 0 ? whole - each * BigInt(parts - 1) : each;
}
