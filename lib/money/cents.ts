/** Pico-USD a cent: what cards can pay. */
export const cent = 10_000_000_000;

/** The whole cents of an amount. */
export function wholeCents(amount: number): number {
  return amount - (amount % cent);
}
