// Per cents as basis points: hundredths of a per cent.

/** Reads a per cent with at most two decimals, such as "12.5". Undefined: it is none. */
export function parsePercent(text: string): number | undefined {
  const [, whole, decimals = ""] = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : Number(whole) * 100 + Number(decimals.padEnd(2, "0"));
}

/** Writes basis points as a per cent, without zeros that say nothing. */
export const formatPercent = (basisPoints: number): string => String(basisPoints / 100);
