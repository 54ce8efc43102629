/** Formats a whole number of 10^-scale units as an exact decimal: (200000n, 6) is "0.2". */
export function decimal(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/(?<!0)0+$/, "");
  return `${value < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** An amount of pico-USD in USD. */
export function usdAmount(picoUsd: bigint): string {
  return decimal(picoUsd, 12);
}

/** A price in pico-USD a token, in USD a token. */
export function usdPerToken(picoUsd: bigint): string {
  return decimal(picoUsd, 12);
}

/** A price in pico-USD a token, in USD for 1M tokens. */
export function usdPerMillion(picoUsd: bigint): string {
  return decimal(picoUsd, 6);
}
