import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { Rates } from "../../model/rates.ts";
import { invariant } from "../invariant.ts";

/** Money that may pay, with its rates. */
export interface Source {
  readonly available: PicoUsd;
  readonly rates: Rates;
}

/** The part of a cost that one source paid. */
export interface Part {
  /** The source's index in the list. */
  readonly source: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: PicoUsd;
}

/** How tokens were paid. */
export interface Split {
  readonly parts: Part[];
  /** Tokens that the sources could not pay in full. */
  readonly unpaid: ChargedTokens;
  /** The unpaid rest of the first token that is not fully paid. Undefined: nothing of it was paid. */
  readonly due: PicoUsd | undefined;
}

/** The cost of tokens at the given rates. */
export function costOf(tokens: ChargedTokens, rates: Rates): PicoUsd {
  return tokens.inputTokens * rates.input + tokens.outputTokens * rates.output;
}

/**
 * Distributes the tokens, input first, over the sources in the order of spending. A source pays whole tokens as long as
 * it can. The token that it cannot pay in full is shared: it costs the lower of the two sources' rates (or the rest of
 * the first source, if that is more, which is still below its rate); the first source gives its whole rest, and the
 * next one pays what is missing. So every source is empty before a later one is used, and no token costs more than its
 * dearest source's rate.
 */
export function split(sources: readonly Source[], tokens: ChargedTokens): Split {
  const splitting = new Splitting(tokens);
  for (let at = 0; at < sources.length && splitting.unfinished; at++) {
    splitting.pay(at, sources[at] as Source);
  }
  const { parts, unpaid, due } = splitting;
  mustConserve(sources, tokens, { parts, unpaid });
  return { parts, unpaid, due };
}

/** A token that no source so far could pay in full: what was paid of it, and the lowest rate so far. */
interface SharedToken {
  readonly paid: PicoUsd;
  readonly lowest: PicoUsd;
}

/** A split in progress. */
class Splitting {
  readonly parts: Part[] = [];
  readonly unpaid: { inputTokens: number; outputTokens: number };
  #shared: SharedToken | undefined;

  constructor({ inputTokens, outputTokens }: ChargedTokens) {
    this.unpaid = { inputTokens, outputTokens };
  }

  get unfinished(): boolean {
    return this.unpaid.inputTokens > 0 || this.unpaid.outputTokens > 0;
  }

  /** The unpaid rest of the shared token. */
  get due(): PicoUsd | undefined {
    return this.#shared === undefined ? undefined : Math.max(0, this.#shared.lowest - this.#shared.paid);
  }

  pay(source: number, { available, rates }: Source): void {
    const before = { ...this.unpaid };
    let left = this.#payShared(available, rates);
    if (this.#shared === undefined) {
      left = this.#payWhole(left, rates);
      if (this.unfinished) {
        this.#shared = left > 0 ? { paid: left, lowest: this.#rateOfNext(rates) } : undefined;
        left = 0;
      }
    }
    const cost = available - left;
    const inputTokens = before.inputTokens - this.unpaid.inputTokens;
    const outputTokens = before.outputTokens - this.unpaid.outputTokens;
    if (cost > 0 || inputTokens > 0 || outputTokens > 0) {
      this.parts.push({ source, inputTokens, outputTokens, cost });
    }
  }

  /** Pays the rest of a shared token, or as much of it as the money allows. Returns the money left. */
  #payShared(money: PicoUsd, rates: Rates): PicoUsd {
    if (this.#shared === undefined) {
      return money;
    }
    const { paid, lowest } = this.#shared;
    this.#shared = { paid, lowest: Math.min(lowest, this.#rateOfNext(rates)) };
    const due = Math.max(0, this.#shared.lowest - paid);
    if (due > money) {
      this.#shared = { ...this.#shared, paid: paid + money };
      return 0;
    }
    this.#shared = undefined;
    this.unpaid[this.unpaid.inputTokens > 0 ? "inputTokens" : "outputTokens"]--;
    return money - due;
  }

  /** Pays as many whole tokens as the money allows, input first. Returns the money left. */
  #payWhole(money: PicoUsd, rates: Rates): PicoUsd {
    const input = Math.min(this.unpaid.inputTokens, affordable(money, rates.input));
    this.unpaid.inputTokens -= input;
    const left = money - input * rates.input;
    if (this.unpaid.inputTokens > 0) {
      return left;
    }
    const output = Math.min(this.unpaid.outputTokens, affordable(left, rates.output));
    this.unpaid.outputTokens -= output;
    return left - output * rates.output;
  }

  #rateOfNext(rates: Rates): PicoUsd {
    return this.unpaid.inputTokens > 0 ? rates.input : rates.output;
  }
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
