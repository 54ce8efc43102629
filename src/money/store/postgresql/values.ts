import type { Charge, ChargeLine } from "../../model/charges/charge.ts";
import { type Column, lineColumns, usageColumns } from "../usage-columns.ts";

/**
 * A group of charges as the columns that the settle statement takes, in its order. They are written as array literals
 * here: the driver's own way, element by element, takes longer than everything else that a settlement does in this
 * process.
 */
export function settleValues(charges: readonly Charge[]): string[] {
  const places: number[] = [];
  const seqs: number[] = [];
  const lines: ChargeLine[] = [];
  for (const [at, charge] of charges.entries()) {
    for (const [seq, line] of charge.lines.entries()) {
      places.push(at + 1);
      seqs.push(seq);
      lines.push(line);
    }
  }
  return [
    ...usageColumns.map((column) => toArray(column, charges)),
    plain(places),
    plain(seqs),
    ...lineColumns.map((column) => toArray(column, lines)),
  ];
}

/** One column of many rows, as an array literal. */
function toArray<From>({ type, read }: Column<From>, rows: readonly From[]): string {
  return type === "text" ? texts(rows.map(read) as (string | null)[]) : plain(rows.map((row) => read(row) ?? "null"));
}

/** An array of numbers, identifiers and other words that need no quotes. */
function plain(values: readonly (string | number)[]): string {
  return `{${values.join()}}`;
}

/** An array of any texts. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function texts(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? "null" : quoted(value))).join()}}`;
}

function quoted(value: string): string {
  return `"${special.test(value) ? value.replaceAll(/["\\]/g, "\\$&") : value}"`;
}

const special = /["\\]/;
