const whole = new Intl.NumberFormat("en-US");
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Formats a count, such as "1,234,567". */
export function formatCount(count: number | bigint): string {
  return whole.format(count);
}

/**
 * Formats whole numbers above 100, otherwise one decimal: "2,340", "7.5", "0". With `step`, formats a label of an axis
 * for that step.
 */
export function formatRatePerSecond(value: number, step?: number): string {
  if (step !== undefined) {
    return step < 1 ? value.toFixed(decimalsOf(step)) : whole.format(value);
  }
  return value === 0 || value >= 100 ? whole.format(Math.round(value)) : tenths.format(value);
}

const mostDecimals = 9;
const rounding = 1e-6;

/** The decimals that distinguish values one step apart: 0 for 5, 1 for 0.5, 2 for 0.25. */
export function decimalsOf(step: number): number {
  const tells = (decimals: number) => {
    const scaled = step * 10 ** decimals;
    return scaled > 1 - rounding && Math.abs(scaled - Math.round(scaled)) < rounding;
  };
  return Array.from({ length: mostDecimals }, (_, decimals) => decimals).find(tells) ?? mostDecimals;
}

/** Formats a part of one as a percentage, such as "77 %", which no line's end divides. */
export function formatPercent(part: number): string {
  return `${whole.format(Math.round(part * 100))}\u00a0%`;
}

/** Formats a count with its noun, such as "1 key" and "2 keys". */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${BigInt(count) === 1n ? one : many}`;
}
