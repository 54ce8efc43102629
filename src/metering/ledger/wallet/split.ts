import type { ChargedTokens, PicoUsd, Rates } from "../../interface.ts";
import { invariant } from "../invariant.ts";

/** Money that may pay, with the rates at which it does. */
export interface Source {
  readonly available: PicoUsd;
  readonly rates: Rates;
}

/** What one source paid. */
export interface Part {
  /** The source's place in the list. */
  readonly source: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: PicoUsd;
}

/** How tokens were paid. */
export interface Split {
  readonly parts: Part[];
  /** Tokens that no source could pay whole. */
  readonly unpaid: ChargedTokens;
  /** What the first unpaid token still costs. Undefined: nothing was paid of it. */
  readonly due: PicoUsd | undefined;
}

/** What tokens cost at the given rates. */
export function costOf(tokens: ChargedTokens, rates: Rates): PicoUsd {
  return tokens.inputTokens * rates.input + tokens.outputTokens * rates.output;
}

/**
 * Lays the tokens, input first, along the sources in the order of spending. A source pays whole
 * tokens as long as it can. The token that it cannot pay whole straddles: it costs the lower of
 * the two sources' rates (or what is left of the first, if that is more, which is still below its
 * rate), the first gives all that it has left and the next one the rest. So every source is empty
 * before a later one is touched, and no token costs more than its dearest source's rate.
 */
export function split(sources: readonly Source[], tokens: ChargedTokens): Split {
  const parts: Part[] = [];
  const unpaid = { inputTokens: tokens.inputTokens, outputTokens: tokens.outputTokens };
  let shared: SharedToken | undefined;
  for (let at = 0; at < sources.length && (unpaid.inputTokens > 0 || unpaid.outputTokens > 0); at++) {
    const { available, rates } = sources[at] as Source;
    const paid = { inputTokens: 0, outputTokens: 0 };
    let left = available;
    if (shared !== undefined) {
      const rate = unpaid.inputTokens > 0 ? rates.input : rates.output;
      shared = { lowest: Math.min(shared.lowest, rate), paid: shared.paid };
      const due = dueOn(shared);
      if (due > left) {
        shared = { ...shared, paid: shared.paid + left };
        left = 0;
      } else {
        left -= due;
        shared = undefined;
        paid[unpaid.inputTokens > 0 ? "inputTokens" : "outputTokens"]++;
      }
    }
    if (shared === undefined) {
      left = payWhole(unpaid, paid, { left, rates });
      unpaid.inputTokens -= paid.inputTokens;
      unpaid.outputTokens -= paid.outputTokens;
      if (unpaid.inputTokens > 0 || unpaid.outputTokens > 0) {
        shared = left > 0 ? { paid: left, lowest: unpaid.inputTokens > 0 ? rates.input : rates.output } : undefined;
        left = 0;
      }
    }
    const cost = available - left;
    if (cost > 0 || paid.inputTokens > 0 || paid.outputTokens > 0) {
      parts.push({ source: at, ...paid, cost });
    }
  }
  mustConserve(sources, tokens, { parts, unpaid });
  return { parts, unpaid, due: shared === undefined ? undefined : dueOn(shared) };
}

/** A token that no source so far could pay whole: what was paid of it, and the lowest rate met. */
interface SharedToken {
  readonly paid: PicoUsd;
  readonly lowest: PicoUsd;
}

function dueOn({ lowest, paid }: SharedToken): PicoUsd {
  return Math.max(0, lowest - paid);
}

/** Pays as many whole tokens as the money does, input first. Adds them to those paid; returns the money left. */
function payWhole(
  unpaid: ChargedTokens,
  paid: { inputTokens: number; outputTokens: number },
  { left, rates }: { readonly left: PicoUsd; readonly rates: Rates },
): PicoUsd {
  const input = Math.min(unpaid.inputTokens - paid.inputTokens, affordable(left, rates.input));
  paid.inputTokens += input;
  const afterInput = left - input * rates.input;
  if (paid.inputTokens < unpaid.inputTokens) {
    return afterInput;
  }
  const output = Math.min(unpaid.outputTokens - paid.outputTokens, affordable(afterInput, rates.output));
  paid.outputTokens += output;
  return afterInput - output * rates.output;
}

function mustConserve(sources: readonly Source[], tokens: ChargedTokens, { parts, unpaid }: Omit<Split, "due">): void {
  let { inputTokens, outputTokens } = unpaid;
  for (const part of parts) {
    inputTokens += part.inputTokens;
    outputTokens += part.outputTokens;
    const { available } = sources[part.source] as Source;
    invariant(part.cost >= 0 && part.cost <= available, "splitting a charge takes no more than a source has");
  }
  const kept = inputTokens === tokens.inputTokens && outputTokens === tokens.outputTokens;
  invariant(kept, "splitting a charge keeps every token");
}

function affordable(money: PicoUsd, rate: PicoUsd): number {
  return rate === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(money / rate);
}
