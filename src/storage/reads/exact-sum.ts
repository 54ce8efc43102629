import type { Row } from "./snapshot.ts";

/** Amounts are split into parts by this: a sum of many may exceed the 64 bits of SQLite, which then fails or rounds. */
const part = 1_000_000;

/** The columns of a sum in two parts, under a name that `readSum` reads, in SQL for both databases. */
export function sumColumns(amount: string, name: string): string {
  return `sum((${amount}) / ${part}) as ${name}_high, sum((${amount}) % ${part}) as ${name}_low`;
}

/** Orders groups by such a sum, largest first. The parts are summed again. */
export function bySum(name: string): string {
  const [high, low] = [`sum(${name}_high)`, `sum(${name}_low)`];
  return `${high} + ${low} / ${part} desc, ${low} % ${part} desc`;
}

/** Selects such columns as texts, which no driver rounds. */
export function textColumns(name: string, table: string): string {
  return ["high", "low"].map((half) => `cast(${table}.${name}_${half} as text) as ${name}_${half}`).join(", ");
}

/** The sum, however large. Without rows it is 0. */
export function readSum(row: Row | undefined, name: string): bigint {
  const half = (which: string) => BigInt(String(row?.[`${name}_${which}`] ?? 0));
  return half("high") * BigInt(part) + half("low");
}

/** A sum whose result fits into 64 bits even if the sum of its positive amounts does not. */
export function fittingSum(amount: string): string {
  return `sum((${amount}) / ${part}) * ${part} + sum((${amount}) % ${part})`;
}
