/** A span of time up to now that plots show. */
export interface Range {
  readonly value: string;
  readonly text: string;
  readonly seconds: number;
}

/** The last minutes, one sample a second: what the core tells as it happens. */
export const live: Range = { value: "", text: "5 min", seconds: 300 };

export const ranges: readonly Range[] = [
  live,
  { value: "hour", text: "1 h", seconds: 3600 },
  { value: "day", text: "24 h", seconds: 86_400 },
  { value: "week", text: "7 d", seconds: 604_800 },
];

/** The range named in the address. */
export function rangeOf(value: string | null): Range {
  return ranges.find((range) => range.value === value) ?? live;
}
