import type { ChargedTokens, PicoUsd, Rates } from "../../interface.ts";

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
  let input = tokens.inputTokens;
  let output = tokens.outputTokens;
  // The token that straddles: what was paid of it and the lowest rate met so far.
  let straddles = false;
  let paid = 0;
  let lowest = 0;

  for (let at = 0; at < sources.length && (input > 0 || output > 0); at++) {
    const { available, rates } = sources[at] as Source;
    let left = available;
    let inputPaid = 0;
    let outputPaid = 0;

    if (straddles) {
      const ofInput = input > 0;
      lowest = Math.min(lowest, ofInput ? rates.input : rates.output);
      const due = Math.max(0, lowest - paid);
      if (due > left) {
        paid += left;
        if (left > 0) {
          parts.push({ source: at, inputTokens: 0, outputTokens: 0, cost: left });
        }
        continue;
      }
      left -= due;
      if (ofInput) {
        inputPaid++;
      } else {
        outputPaid++;
      }
      straddles = false;
      paid = 0;
    }

    const whole = Math.min(input - inputPaid, affordable(left, rates.input));
    inputPaid += whole;
    left -= whole * rates.input;
    if (inputPaid === input) {
      const wholeOutput = Math.min(output - outputPaid, affordable(left, rates.output));
      outputPaid += wholeOutput;
      left -= wholeOutput * rates.output;
    }
    input -= inputPaid;
    output -= outputPaid;

    if (input > 0 || output > 0) {
      straddles = left > 0;
      paid = left;
      lowest = input > 0 ? rates.input : rates.output;
      left = 0;
    }
    const cost = available - left;
    if (cost > 0 || inputPaid > 0 || outputPaid > 0) {
      parts.push({ source: at, inputTokens: inputPaid, outputTokens: outputPaid, cost });
    }
  }
  return {
    parts,
    unpaid: { inputTokens: input, outputTokens: output },
    due: straddles ? Math.max(0, lowest - paid) : undefined,
  };
}

function affordable(money: PicoUsd, rate: PicoUsd): number {
  return rate === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(money / rate);
}
