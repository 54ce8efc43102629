import { must } from "./misfit.ts";
import type { Line } from "./read-line.ts";

/** The prices that a credit locked in: its price list, the account's own prices, and its rates of some models. */
export interface LockedPrices {
  /** By model, in pico-USD a token. */
  readonly rates: ReadonlyMap<string, { readonly input: bigint; readonly output: bigint }>;
}

/** Where a credit came from. */
export interface Origin {
  /** topup, grant or, of a part of the credit line, line. */
  readonly kind: string;
  /** When it came in, in milliseconds since the epoch. */
  readonly at: number;
  readonly prices: LockedPrices;
}

const kinds = ["topup", "grant", "line"];

/** Reads where credits came from. Equal prices are one object, so that many credits take no more memory than their lists. */
export class LotOrigins {
  readonly #prices = new Map<string, LockedPrices>();

  /** Of a line, or of one of its lots. Undefined: of what no credit could pay. */
  read(line: Line, lotId: string): Origin | undefined {
    if (lotId === "") {
      return undefined;
    }
    must(kinds.includes(line.kind), `a credit is a ${kinds.join(", a ")}`);
    return { kind: line.kind, at: line.time("at").getTime(), prices: this.#readPrices(line) };
  }

  #readPrices(line: Line): LockedPrices {
    const own = line.has("own_prices") ? [line.count("own_prices"), line.text("discount_percent")] : [];
    const rates = line.list("rates").map((one) => {
      return [one.text("model"), { input: one.rate("input_price"), output: one.rate("output_price") }] as const;
    });
    const told = rates.map(([model, { input, output }]) => [model, String(input), String(output)]);
    const key = JSON.stringify([line.text("price_version"), own, told]);
    const known = this.#prices.get(key) ?? { rates: new Map(rates) };
    this.#prices.set(key, known);
    return known;
  }
}
