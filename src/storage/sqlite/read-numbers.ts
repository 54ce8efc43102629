import type { SQLOutputValue } from "node:sqlite";

/** Converts the whole numbers of a row to JavaScript numbers wherever these are exact. Changes the row. */
export function readNumbers(row: Record<string, SQLOutputValue>): Record<string, SQLOutputValue> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      row[name] = Number(value);
    }
  }
  return row;
}
