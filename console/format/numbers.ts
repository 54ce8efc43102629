const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Such as "1,234,567". */
export function formatCount(count: number | bigint): string {
  return whole.format(count);
}

/** Such as "1.2M", where there is no room for all of it. */
export function formatShort(count: number | bigint): string {
  return short.format(count);
}

/** Whole above 100, else with one decimal: "2,340", "7.5", "0". */
export function formatRatePerSecond(value: number): string {
  return value === 0 || value >= 100 ? whole.format(Math.round(value)) : tenths.format(value);
}

/** A part of one, such as "77 %". */
export function formatPercent(part: number): string {
  return `${whole.format(Math.round(part * 100))} %`;
}

/** Such as "1 key" and "2 keys". */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${BigInt(count) === 1n ? one : many}`;
}
