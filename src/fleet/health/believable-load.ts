import type { EngineLoad } from "../engines/interface.ts";

/** The most requests that are believed to run or wait on a server. The contract carries them as uint32. */
const mostRequests = 1_000_000;

/** The most tokens of a KV cache that are believed: beyond all hardware. */
const mostKvTokens = 1_000_000_000;

/**
 * A server's reported load with each number brought within believable bounds. Values that are not numbers are left out.
 */
export function believableLoad({
  running,
  waiting,
  kvUsage,
  kvTokens,
  cacheQueries,
  cacheHits,
}: EngineLoad): EngineLoad {
  return {
    ...within("running", running, mostRequests, Math.round),
    ...within("waiting", waiting, mostRequests, Math.round),
    ...within("kvUsage", kvUsage, 1),
    ...(kvTokens !== undefined && kvTokens > 0 && within("kvTokens", kvTokens, mostKvTokens, Math.round)),
    ...within("cacheQueries", cacheQueries, Number.MAX_SAFE_INTEGER),
    ...within("cacheHits", cacheHits, Math.max(0, cacheQueries ?? 0)),
  };
}

function within(
  field: keyof EngineLoad,
  value: number | undefined,
  most: number,
  round = (n: number) => n,
): EngineLoad {
  if (typeof value !== "number" || Number.isNaN(value)) {
    return {};
  }
  return { [field]: round(Math.min(most, Math.max(0, value))) };
}
