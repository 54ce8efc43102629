const most = 2n ** 63n - 1n;

/**
 * A sum that fits a signed 64-bit field: beyond the field's bounds it becomes the bound. Sums of money may exceed 64
 * bits, and an account with such a sum must still be shown.
 */
export function toInt64(sum: bigint): bigint {
  if (sum > most) {
    return most;
  }
  return sum < -most - 1n ? -most - 1n : sum;
}
