/** The largest count that is carried: tokens are int32 in the contract and the store. */
export const largestCount = 2 ** 31 - 1;

/** A count of an engine, one beyond all bounds as the largest. Undefined: it is no whole number from zero. */
export function countIn(value: unknown): number | undefined {
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0;
  return isCount ? Math.min(value, largestCount) : undefined;
}
