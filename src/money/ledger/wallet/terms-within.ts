import type { ChargeLine } from "../../model/charges/charge.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { Rates } from "../../model/rates.ts";
import { costOf } from "./split.ts";

/** Tokens whose cost is bounded, and how they were paid when that bound was told. */
type Bounded = ChargedTokens & { readonly lines: readonly ChargeLine[] };

/**
 * The terms at which tokens cost no more than an amount: those of their admission, else the rates that they were paid at
 * before, else the terms in proportion. `priceOf`: the cost of the tokens at some terms.
 */
export function termsWithin(most: PicoUsd, tokens: Bounded, terms: Rates, priceOf: (terms: Rates) => PicoUsd): Rates {
  if (priceOf(terms) <= most) {
    return terms;
  }
  const paid = atMost(terms, tokens.lines);
  if (tokens.lines.length > 0 && priceOf(paid) <= most) {
    return paid;
  }
  const whole = BigInt(costOf(tokens, terms));
  const part = (rate: PicoUsd) => Number((BigInt(rate) * BigInt(most)) / whole);
  return { input: part(terms.input), output: part(terms.output) };
}

/** The terms, lowered to the highest rates of lines. */
function atMost(terms: Rates, lines: readonly ChargeLine[]): Rates {
  return {
    input: Math.min(terms.input, Math.max(...lines.map(({ inputRate }) => inputRate))),
    output: Math.min(terms.output, Math.max(...lines.map(({ outputRate }) => outputRate))),
  };
}
