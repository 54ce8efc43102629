import type { JsonObject } from "@bufbuild/protobuf";
import { toPrintable } from "#lib/text/printable.ts";

/** The output of a command: JSON for machines, tables for people. */
export type Document = DocumentRow | readonly DocumentRow[];
export type DocumentRow = { readonly [field: string]: Cell | readonly DocumentRow[] };
type Cell = Scalar | readonly string[] | CellGroup | JsonObject;
type Scalar = string | number | boolean | null;
/** Values that belong together and share a cell of a table. */
type CellGroup = { readonly [name: string]: Scalar | readonly string[] };

/** A document as one JSON text. */
export function renderJson(document: Document): string {
  return JSON.stringify(document, undefined, 2);
}

/** A document as tables: a list as one table, a single object as its fields with its lists below. */
export function renderText(document: Document): string {
  if (isList(document)) {
    return table(document);
  }
  const fields = Object.entries(document);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines: string[] = [];
  for (const [name, value] of fields) {
    if (!isList(value)) {
      lines.push(`${name.padEnd(width)}  ${text(value)}`);
    }
  }
  for (const [name, value] of fields) {
    if (isList(value) && value.length > 0) {
      lines.push("", `${name}:`, indent(table(value)));
    }
  }
  return lines.join("\n");
}

function table(rows: readonly DocumentRow[]): string {
  const [first] = rows;
  if (!first) {
    return "none";
  }
  const columns = Object.entries(first)
    .filter(([, value]) => !isList(value))
    .map(([name]) => name);
  const cells = rows.map((row) => columns.map((name) => text(row[name] as Cell)));
  const lines = [columns, ...cells];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const numeric = columns.map((name) => rows.every((row) => isNumeric(row[name])));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function isList(value: unknown): value is readonly DocumentRow[] {
  return Array.isArray(value) && typeof value[0] !== "string";
}

function isNumeric(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && /^-?\d+\.\d+$/.test(value));
}

function text(value: Cell | undefined): string {
  if (value === null || value === undefined || value === "") {
    return "-";
  }
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  if (typeof value === "object" && !Array.isArray(value)) {
    const set = Object.entries(value).filter(([, part]) => part !== null);
    return set.length === 0
      ? "-"
      : toPrintable(set.map(([name, part]) => `${name}=${isNested(part) ? JSON.stringify(part) : part}`).join(" "));
  }
  return toPrintable(String(value));
}

/** Whether a part of a cell is more than a word or a list of words. */
function isNested(part: unknown): boolean {
  return typeof part === "object" && !(Array.isArray(part) && part.every((word) => typeof word === "string"));
}

function indent(lines: string): string {
  return lines.replace(/^/gm, "  ");
}
