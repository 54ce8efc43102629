import { cent } from "#lib/money/cents.ts";

/** Stripe's cents as pico-USD. Undefined: Stripe names no amount that can be credited. */
export function fromCents(cents: number | null | undefined): number | undefined {
  const pico = (cents ?? 0) * cent;
  return Number.isSafeInteger(cents) && Number.isSafeInteger(pico) && pico > 0 ? pico : undefined;
}

/** Pico-USD as Stripe's cents. Throws where they are not whole. */
export function toCents(picoUsd: number): number {
  if (picoUsd % cent !== 0) {
    throw new Error(`${picoUsd} pico-USD are no whole cents`);
  }
  return picoUsd / cent;
}
