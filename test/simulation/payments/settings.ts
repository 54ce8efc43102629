import { cent } from "#src/checkout/cents.ts";

/** The settings of auto top-up, in pico-USD. */
export const auto = { below: 500 * cent, amount: 2000 * cent, monthly: BigInt(20_000 * cent) };
