import { formatUsd } from "../../lib/money/money.ts";
import { decimalsOf } from "./numbers.ts";

/** An exact amount in two parts: the digits that are read at a glance, and the rest to the last nonzero digit. */
export interface SplitAmount {
  /** With sign and currency, such as "$4.98" or "−$0.000123". */
  readonly significant: string;
  /** The remaining digits. Empty: none. */
  readonly rest: string;
}

/** Decimals that are always shown at a glance, and significant digits of smaller amounts. */
const glanceDecimals = 2;
const glanceDigits = 3;

/** Splits an exact amount of pico-USD without rounding. */
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

/** The number of decimals in the exact amount. */
export function countDecimals(pico: bigint): number {
  return (formatUsd(pico).split(".")[1] ?? "").length;
}

const usdPerPico = 1e-12;

/** Formats money a unit of time. It is an estimate, and so has few digits: "$12.40", "$0.0031". */
export function formatPace(pico: bigint): string {
  const usd = Math.abs(Number(pico) * usdPerPico);
  const sign = pico < 0n ? "−" : "";
  return `${sign}$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;
}

/**
 * Formats a plot's value in USD with three digits, since tables have the exact sums. With `step`, formats a label of an
 * axis for that step.
 */
export function formatUsdValue(usd: number, step?: number): string {
  if (step !== undefined) {
    return `$${usd.toFixed(step < 1 ? Math.max(glanceDecimals, decimalsOf(step)) : 0)}`;
  }
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(glanceDecimals) : Number(usd.toPrecision(glanceDigits))}`;
}
