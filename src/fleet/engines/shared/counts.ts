/** The largest count that is carried: the contract and the store have tokens as int32. */
export const largestCount = 2 ** 31 - 1;

/** An engine's count, capped at the largest. Undefined: the value is not a whole number of 0 or more. */
export function countIn(value: unknown): number | undefined {
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0;
  return isCount ? Math.min(value, largestCount) : undefined;
}
