import { cent } from "#lib/money/cents.ts";

/** The settings of auto top-up, in pico-USD. `isSmall`: a charge does not lift an empty balance to its bound. */
export function autoTopUpOf({ isSmall }: { readonly isSmall: boolean }) {
  return { below: (isSmall ? 3000 : 500) * cent, amount: 2000 * cent, monthly: BigInt(20_000 * cent) };
}
