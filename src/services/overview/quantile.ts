/** The counts of a histogram, cumulative, each with the upper bound of its bucket. */
export type Buckets = readonly (readonly [upTo: number, count: number])[];

/** The counts between two readings of the same buckets. */
export function countsSince(before: Buckets, after: Buckets): Buckets {
  const known = new Map(before);
  return after.map(([upTo, count]) => [upTo, count - (known.get(upTo) ?? 0)]);
}

/**
 * The value that this part of all counted values does not exceed, assuming an even spread within each bucket. Values
 * above the last finite bound count as that bound. Undefined: nothing was counted.
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
