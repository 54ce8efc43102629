/** Pico-USD a cent. */
export const picoUsdACent = 10_000_000_000;

/** Stripe's cents as pico-USD. Undefined: Stripe names no amount that can be credited. */
export function fromCents(cents: number | null | undefined): number | undefined {
  const pico = (cents ?? 0) * picoUsdACent;
  return Number.isSafeInteger(cents) && Number.isSafeInteger(pico) && pico > 0 ? pico : undefined;
}

/** Pico-USD as Stripe's cents. Throws where they are not whole. */
export function toCents(picoUsd: number): number {
  if (picoUsd % picoUsdACent !== 0) {
    throw new Error(`${picoUsd} pico-USD are no whole cents`);
  }
  return picoUsd / picoUsdACent;
}
