import type { JsonObject } from "@bufbuild/protobuf";
import { toPrintable } from "#lib/text/printable.ts";
import { gap, narrow, type Table, usualWidth, widthsOf } from "./narrow.ts";

/** The output of a command: JSON for machines, tables for people. */
export type Document = DocumentRow | readonly DocumentRow[];
export type DocumentRow = { readonly [field: string]: Cell | readonly DocumentRow[] };
type Cell = Scalar | readonly string[] | CellGroup | JsonObject;
type Scalar = string | number | boolean | null;
/** Values that belong together and share a cell of a table. */
type CellGroup = { readonly [name: string]: Scalar | readonly string[] };

const indentation = "  ";

/** A document as one JSON text. */
export function renderJson(document: Document): string {
  return JSON.stringify(document, undefined, 2);
}

/**
 * A document as tables: a list as one table, a single object as its fields with its lists below. Tables are as wide as a
 * terminal usually is, or `wide`, which leaves nothing out.
 */
export function renderText(document: Document, { wide = false }: { readonly wide?: boolean | undefined } = {}): string {
  const width = wide ? Number.POSITIVE_INFINITY : usualWidth;
  if (isList(document)) {
    return table(document, width);
  }
  const fields = Object.entries(document);
  const names = Math.max(...fields.map(([name]) => name.length));
  const lines: string[] = [];
  for (const [name, value] of fields) {
    if (!isList(value)) {
      lines.push(`${name.padEnd(names)}  ${text(value)}`);
    }
  }
  for (const [name, value] of fields) {
    if (isList(value) && value.length > 0) {
      lines.push("", `${name}:`, indent(table(value, width - indentation.length)));
    }
  }
  return lines.join("\n");
}

function table(rows: readonly DocumentRow[], width: number): string {
  const [first] = rows;
  if (!first) {
    return "none";
  }
  const names = Object.entries(first)
    .filter(([, value]) => !isList(value))
    .map(([name]) => name);
  const cells = rows.map((row) => names.map((name) => text(row[name] as Cell)));
  const narrowed = narrow({ columns: names, rows: cells }, width);
  const numeric = narrowed.columns.map((name) => rows.every((row) => isNumeric(row[name])));
  return draw(narrowed, numeric);
}

/** The lines of a table, numbers to the right. */
function draw(table: Table, numeric: readonly boolean[]): string {
  const widths = widthsOf(table);
  const lines = [table.columns, ...table.rows].flatMap(toLines);
  return lines
    .map((line) =>
      line
        .map((cell, at) => (numeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
        .join(gap)
        .trimEnd(),
    )
    .join("\n");
}

/** The lines of a row: as many as its highest cell has. */
function toLines(row: readonly string[]): string[][] {
  const cells = row.map((cell) => cell.split("\n"));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ""));
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
  return lines.replace(/^/gm, indentation);
}
