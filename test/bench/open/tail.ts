import { percentile } from "../report/statistics.ts";

/** Times in milliseconds. */
export interface Tail {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export function toTail(samples: readonly number[]): Tail {
  const sorted = Float64Array.from(samples).sort();
  const [p50 = 0, p99 = 0, p999 = 0] = [0.5, 0.99, 0.999].map((part) => percentile(sorted, part));
  return { count: sorted.length, p50, p99, p999 };
}
