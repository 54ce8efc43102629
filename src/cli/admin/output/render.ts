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
      lines.push(...toFieldLines(name.padEnd(names), text(value), width));
    }
  }
  for (const [name, value] of fields) {
    if (isList(value) && value.length > 0) {
      lines.push("", `${name}:`, indent(table(value, width - indentation.length)));
    }
  }
  return lines.join("\n");
}

/** A field with its value, which goes on in further lines, between words, where one has no room for it. */
function toFieldLines(name: string, value: string, width: number): string[] {
  const [first = "", ...others] = value.split(" ");
  const lines = [`${name}${gap}${first}`];
  for (const word of others) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > width) {
      lines.push(`${" ".repeat(name.length)}${gap}${word}`);
    } else {
      lines[lines.length - 1] = line;
    }
  }
  return lines;
}

function table(rows: readonly DocumentRow[], width: number): string {
  if (rows.length === 0) {
    return "none";
  }
  const names = columnsOf(rows);
  const cells = rows.map((row) => names.map((name) => text(row[name] as Cell)));
  const narrowed = narrow({ columns: names, rows: cells }, width);
  const numeric = narrowed.columns.map((name) => rows.every((row) => isNumeric(row[name])));
  return draw(narrowed, numeric);
}

/** The columns of all rows: a row may have a field that others lack, which stands behind the one before it there. */
function columnsOf(rows: readonly DocumentRow[]): string[] {
  const names: string[] = [];
  for (const row of rows) {
    let before = -1;
    for (const [name] of Object.entries(row).filter(([, value]) => !isList(value))) {
      const at = names.indexOf(name);
      before = at === -1 ? before + 1 : at;
      if (at === -1) {
        names.splice(before, 0, name);
      }
    }
  }
  return names;
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
