/** Counts by the bound of their bucket, each with all before it. */
export type Buckets = readonly (readonly [upTo: number, count: number])[];

/** What was counted between two readings of the same buckets. */
export function countsSince(before: Buckets, after: Buckets): Buckets {
  const known = new Map(before);
  return after.map(([upTo, count]) => [upTo, count - (known.get(upTo) ?? 0)]);
}

/**
 * The value that a part of all counted ones does not exceed, even spread within a bucket assumed; the last bound for
 * values above it. Undefined: nothing was counted.
 */
export function estimateQuantile(buckets: Buckets, part: number): number | undefined {
  const all = buckets.at(-1)?.[1] ?? 0;
  if (all <= 0) {
    return undefined;
  }
  const rank = part * all;
  let [lower, below] = [0, 0];
  for (const [upTo, count] of buckets) {
    if (count >= rank) {
      return upTo === Number.POSITIVE_INFINITY ? lower : lower + ((upTo - lower) * (rank - below)) / (count - below);
    }
    [lower, below] = [upTo, count];
  }
  return lower;
}
