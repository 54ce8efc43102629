/** What a set of samples says. All in the unit of the samples. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** The value below which a part of the samples lies, by nearest rank; the samples in ascending order. */
export function percentile(sorted: ArrayLike<number>, part: number): number {
  if (sorted.length === 0) {
    return Number.NaN;
  }
  const rank = Math.ceil(part * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

/** Exact percentiles: every sample is kept and sorted. */
export function percentiles(samples: readonly number[]): Percentiles {
  const sorted = Float64Array.from(samples).sort();
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/** The middle of repeated measurements and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Values that are not numbers are left out: a system that lacks a surface has none. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
