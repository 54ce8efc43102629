import type { ChargeLine } from "../../model/charges/charge.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { Rates } from "../../model/rates.ts";
import { costOf, type Source, split } from "./split.ts";
import type { WalletRates } from "./wallet-rates.ts";
import type { OpenSlice } from "./wallet-slices.ts";

/** The cost of tokens, and the slices that pay it. */
export interface PaidCost {
  readonly lines: ChargeLine[];
  readonly cost: PicoUsd;
  readonly shortfall: PicoUsd;
}

/** A slice that may pay, with its rates. */
interface SliceSource extends Source {
  readonly slice: OpenSlice;
}

/** Money that may pay for tokens of one model. */
export interface PayingMoney {
  /** In the order of spending. */
  readonly slices: readonly OpenSlice[];
  /** The most that the slices pay together. */
  readonly budget: PicoUsd;
  /** The model's rates must have been loaded for all slices. */
  readonly rates: WalletRates;
  readonly model: string;
}

/**
 * Pays tokens out of slices, in their order. No token costs more than the terms, even when its lot is dearer. The
 * shortfall is what the money cannot pay, at the terms. `spend` takes each slice's part out of it.
 */
export function pay(
  money: PayingMoney,
  tokens: ChargedTokens,
  terms: Rates,
  spend: (slice: OpenSlice, cost: PicoUsd) => void,
): PaidCost {
  const sources = findSources(money, terms);
  const { parts, unpaid, due } = split(sources, tokens);
  const first = unpaid.inputTokens > 0 ? terms.input : terms.output;
  const shortfall = costOf(unpaid, terms) - (due === undefined ? 0 : first - due);

  let paid = 0;
  // Not pushed one by one: an array that grows has room for sixteen, and these wait for the store.
  const lines = parts.map(({ source, inputTokens, outputTokens, cost }): ChargeLine => {
    const { slice, rates } = sources[source] as SliceSource;
    spend(slice, cost);
    paid += cost;
    const [inputRate, outputRate] = [rates.input, rates.output];
    return { sliceId: slice.id, lotId: slice.lotId, inputTokens, outputTokens, inputRate, outputRate, cost };
  });
  return { lines, cost: paid + shortfall, shortfall };
}

function findSources({ slices, budget, rates: known, model }: PayingMoney, terms: Rates): SliceSource[] {
  const sources: SliceSource[] = [];
  let left = budget;
  for (const slice of slices) {
    if (left === 0 && sources.length > 0) {
      break;
    }
    const rates = known.find(slice, model);
    if (rates === undefined) {
      throw new Error(`rates of ${model} in version ${slice.priceVersion} are not loaded`);
    }
    const available = Math.min(slice.available, left);
    const capped = { input: Math.min(rates.input, terms.input), output: Math.min(rates.output, terms.output) };
    sources.push({ slice, available, rates: capped });
    left -= available;
  }
  return sources;
}
