import { countDecimals, splitAmount } from "../../format/money.ts";

/** The kind of amount. Programs find an amount by it. */
export type AmountName =
  | "balance"
  | "held"
  | "debt"
  | "credit-line"
  | "credit-left"
  | "owed"
  | "granted"
  | "remaining"
  | "total"
  | "line"
  | "rate"
  | "paid"
  | "settled";

interface Props {
  readonly pico: bigint;
  readonly name?: AmountName;
  /** The decimals of the column's longest amount, so that decimal points align. */
  readonly decimals?: number;
}

/** An exact amount. All digits are shown; those beyond a glance are dimmed. */
export function Amount({ pico, name, decimals = 0 }: Props) {
  const { significant, rest } = splitAmount(pico);
  const missing = Math.max(0, decimals - countDecimals(pico));
  return (
    <span
      class="amount"
      data-pico-usd={String(pico)}
      data-name={name}
      data-padding={missing > 0 ? "0".repeat(missing) : undefined}
    >
      {significant}
      {rest !== "" && <span class="rest">{rest}</span>}
    </span>
  );
}

/** The decimals of a column's longest amount. */
export function mostDecimals(amounts: readonly bigint[]): number {
  return Math.max(0, ...amounts.map(countDecimals));
}

/** A rate in USD for a million tokens, from pico-USD a token. */
export function Rate({ picoPerToken, decimals }: { readonly picoPerToken: bigint; readonly decimals?: number }) {
  return <Amount pico={picoPerToken * tokensPerRate} name="rate" {...(decimals === undefined ? {} : { decimals })} />;
}

export const tokensPerRate = 1_000_000n;
