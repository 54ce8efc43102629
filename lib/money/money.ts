// Money is whole pico-USD (10^-12 USD) inside and exact decimal USD for people, never floating point.

const picoDigits = 12;
/** The tokens that a price is for: a price in USD per 1M tokens is this many times smaller for one token. */
const tokensPerPrice = 1_000_000n;

/** The largest amount that one lot, payment or request may have: it has to fit a JS number exactly. About 9,007 USD. */
export const maxPicoUsd = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The highest price, in pico-USD a token: 1,000 USD per 1M tokens. Above any real one, and low enough that tokens times
 * rate stay an exact number.
 */
export const maxRate = 1_000_000_000n;

/** Reads decimal USD such as "10" or "0.000123" exactly. Undefined: not such an amount, or finer than a pico-USD. */
export function parseUsd(text: string): bigint | undefined {
  const match = /^(\d{1,18})(?:\.(\d{1,12}))?$/.exec(text);
  if (!match) {
    return undefined;
  }
  return BigInt((match[1] ?? "") + (match[2] ?? "").padEnd(picoDigits, "0"));
}

/**
 * Reads a JSON number of USD exactly, also one with an exponent. Undefined: it is negative, finer than a pico-USD, or
 * more than one amount may be.
 */
export function parseUsdNumber(text: string): bigint | undefined {
  const [, whole, fraction = "", exponent = "0"] =
    /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) ?? [];
  if (whole === undefined) {
    return undefined;
  }
  const digits = BigInt(whole + fraction);
  const shift = picoDigits + Number(exponent) - fraction.length;
  const unit = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % unit !== 0n) {
    return undefined;
  }
  const pico = shift < 0 ? digits / unit : digits * unit;
  return pico > maxPicoUsd ? undefined : pico;
}

/** Writes pico-USD as exact decimal USD with at least two decimals. */
export function formatUsd(pico: bigint): string {
  const digits = (pico < 0n ? -pico : pico).toString().padStart(picoDigits + 1, "0");
  const whole = digits.slice(0, -picoDigits);
  const decimals = digits
    .slice(-picoDigits)
    .replace(/(?<!0)0+$/, "")
    .padEnd(2, "0");
  return `${pico < 0n ? "-" : ""}${whole}.${decimals}`;
}

/** Reads USD per 1M tokens as pico-USD a token. Undefined: not such a price, or finer than a pico-USD a token. */
export function parseRate(usdPerMillion: string): bigint | undefined {
  const pico = parseUsd(usdPerMillion);
  return pico === undefined || pico % tokensPerPrice !== 0n ? undefined : pico / tokensPerPrice;
}

/** Writes pico-USD a token as exact decimal USD per 1M tokens. */
export function formatRate(picoPerToken: bigint): string {
  return formatUsd(picoPerToken * tokensPerPrice);
}
