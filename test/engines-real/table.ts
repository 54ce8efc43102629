import { readFileSync, writeFileSync } from "node:fs";

/** What came of one row: "ok", with a remark perhaps, or why not. */
export type Outcome = string;

/** One engine of the table. */
export interface Column {
  readonly title: string;
  readonly version: string;
  /** By the row's name. A text alone: why nothing was run. */
  readonly outcomes: Readonly<Record<string, Outcome>> | string;
}

/** Whether a row held, or was not to be tried. */
export function isGood(outcome: Outcome): boolean {
  return outcome.startsWith("ok") || outcome.startsWith("none:");
}

const begin = "<!-- engines: begin -->";
const end = "<!-- engines: end -->";

/** The table as Markdown: a row for each thing that is tried, a column for each engine; the reasons stand below. */
export function toTable(columns: readonly Column[], rows: readonly string[]): string {
  const run = columns.filter(({ outcomes }) => typeof outcomes !== "string");
  const notes: string[] = [];
  /** The number of a note that several rows share. */
  const noteOf = (note: string) => (notes.includes(note) ? notes.indexOf(note) + 1 : notes.push(note));
  const cell = ({ title, outcomes }: Column, row: string) => {
    const outcome = (outcomes as Record<string, Outcome>)[row];
    if (outcome === undefined || outcome === "ok") {
      return outcome ?? "not run";
    }
    if (outcome.startsWith("none: ")) {
      return `none [${noteOf(`- ${title}, none: ${outcome.slice("none: ".length)}`)}]`;
    }
    notes.push(`- ${title}, ${row}: ${outcome.replaceAll("\n", " ")}`);
    return outcome.startsWith("ok") ? `ok [${notes.length}]` : `no [${notes.length}]`;
  };
  const lines = aligned([
    ["", ...run.map(({ title, version }) => `${title} ${version}`)],
    ...rows.map((row) => [row, ...run.map((column) => cell(column, row))]),
  ]);
  const absent = columns.flatMap(({ title, outcomes }) =>
    typeof outcomes === "string" ? [`- ${title}: not run: ${outcomes}`] : [],
  );
  const numbered = notes.map((note, index) => note.replace("- ", `${index + 1}. `));
  return [lines.join("\n"), numbered.join("\n"), absent.join("\n")].filter((part) => part !== "").join("\n\n");
}

/** A table as the formatter writes it. */
function aligned(cells: readonly (readonly string[])[]): string[] {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const toLine = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const [head = [], ...others] = cells;
  return [toLine(head), rule, ...others.map(toLine)];
}

/** Puts the table in its place in a page. */
export function writeTable(page: string, table: string): void {
  const text = readFileSync(page, "utf8");
  const [before = "", rest = ""] = text.split(begin);
  const [, after = ""] = rest.split(end);
  writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}
