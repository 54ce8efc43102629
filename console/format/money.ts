import { formatUsd } from "../../lib/money.ts";
import { decimalsOf } from "./numbers.ts";

/** An exact amount in two parts: what a person reads at a glance, and the digits behind it, down to the last one that is not zero. */
export interface SplitAmount {
  /** With sign and currency, such as "$4.98" or "−$0.000123". */
  readonly significant: string;
  /** What follows it. Empty: nothing. */
  readonly rest: string;
}

/** Decimals that are always at a glance, and significant digits of smaller amounts. */
const glanceDecimals = 2;
const glanceDigits = 3;

/** Splits an exact amount of pico-USD; nothing of it is rounded. */
export function splitAmount(pico: bigint): SplitAmount {
  const exact = formatUsd(pico < 0n ? -pico : pico);
  const [whole = "", decimals = ""] = exact.split(".");
  const firstDigit = decimals.search(/[1-9]/);
  const glance =
    whole === "0" && firstDigit >= 0 ? Math.max(glanceDecimals, firstDigit + glanceDigits) : glanceDecimals;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = pico < 0n ? "−" : "";
  return { significant: `${sign}$${grouped}.${decimals.slice(0, glance)}`, rest: decimals.slice(glance) };
}

/** How many decimals the exact amount is written with. */
export function countDecimals(pico: bigint): number {
  return (formatUsd(pico).split(".")[1] ?? "").length;
}

const usdPerPico = 1e-12;

/** A pace, which is an estimate and therefore has few digits: "$12.40", "$0.0031". */
export function formatPace(pico: bigint): string {
  const usd = Math.abs(Number(pico) * usdPerPico);
  const sign = pico < 0n ? "−" : "";
  return `${sign}$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;
}

/** A value of a plot in USD: three digits are enough, exact sums are in tables. As a label of an axis: as its step asks for. */
export function formatUsdValue(usd: number, step?: number): string {
  if (step !== undefined) {
    return `$${usd.toFixed(step < 1 ? Math.max(glanceDecimals, decimalsOf(step)) : 0)}`;
  }
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(glanceDecimals) : Number(usd.toPrecision(glanceDigits))}`;
}
