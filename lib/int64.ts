const most = 2n ** 63n - 1n;

/**
 * A sum as a signed 64-bit field can carry it: one beyond its bounds as the bound. Sums of money may pass 64 bits, and
 * an account whose sum does must still be shown.
 */
export function toInt64(sum: bigint): bigint {
  if (sum > most) {
    return most;
  }
  return sum < -most - 1n ? -most - 1n : sum;
}
