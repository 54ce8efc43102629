const firstMs = 10;
const factor = 1.5;
/** The last bucket ends above two minutes. */
const last = 24;

/** The upper end of a bucket, in milliseconds. Each is half as long again as the one before. */
function endOf(bucket: number): number {
  return firstMs * factor ** bucket;
}

/** The bucket of a time. */
export function toBucket(ms: number): number {
  return Math.min(last, Math.max(0, Math.ceil(Math.log(ms / firstMs) / Math.log(factor))));
}

/** The time within which this part of all counted times lies, by even spread within its bucket. Undefined: none were counted. */
export function quantile(counts: ReadonlyMap<number, number>, part: number): number | undefined {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let left = total * part;
  for (let bucket = 0; bucket <= last; bucket++) {
    const count = counts.get(bucket) ?? 0;
    if (count > 0 && left <= count) {
      const from = bucket === 0 ? 0 : endOf(bucket - 1);
      return Math.round(from + (endOf(bucket) - from) * (left / count));
    }
    left -= count;
  }
  return undefined;
}
