import type { Row } from "./snapshot.ts";

/** The parts that amounts are cut into: a sum of many may pass the 64 bits of SQLite, which then fails or rounds. */
const part = 1_000_000;

/** The columns of a sum in two parts, under a name that `readSum` reads: SQL of both databases. */
export function sumColumns(amount: string, name: string): string {
  return `sum((${amount}) / ${part}) as ${name}_high, sum((${amount}) % ${part}) as ${name}_low`;
}

/** The order of groups by such a sum of theirs, whose parts are summed up again, the largest first. */
export function bySum(name: string): string {
  const [high, low] = [`sum(${name}_high)`, `sum(${name}_low)`];
  return `${high} + ${low} / ${part} desc, ${low} % ${part} desc`;
}

/** Hands such columns on, as texts, which no driver rounds. */
export function textColumns(name: string, table: string): string {
  return ["high", "low"].map((half) => `cast(${table}.${name}_${half} as text) as ${name}_${half}`).join(", ");
}

/** The sum, however large; of no rows it is 0. */
export function readSum(row: Row | undefined, name: string): bigint {
  const half = (which: string) => BigInt(String(row?.[`${name}_${which}`] ?? 0));
  return half("high") * BigInt(part) + half("low");
}

/** A sum whose result fits into 64 bits, though those of its amounts above zero may not. */
export function fittingSum(amount: string): string {
  return `sum((${amount}) / ${part}) * ${part} + sum((${amount}) % ${part})`;
}
