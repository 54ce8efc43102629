type Value = string | number | boolean | null;
type Row = Readonly<Record<string, unknown>>;

/** How rows become lines of a file. */
export interface Format {
  /** The first line of a file, of a row's columns. Undefined: there is none. */
  header(columns: readonly string[]): string | undefined;
  line(row: Row): string;
  /** Reads a line again; columns are those of the header. Undefined: it is no whole line. */
  read(line: string, columns: readonly string[]): Row | undefined;
}

/** The columns of a table: what holds a list is left out. */
export function columnsOf(row: Row): string[] {
  return Object.keys(row).filter((name) => !Array.isArray(row[name]));
}

const jsonl: Format = {
  header: () => undefined,
  line: (row) => JSON.stringify(row),
  read(line) {
    try {
      return JSON.parse(line) as Row;
    } catch {
      return undefined;
    }
  },
};

/** As RFC 4180 says, but for the ends of lines: a null is an empty field, an empty text is in quotes. */
const csv: Format = {
  header: (columns) => columns.join(","),
  line: (row) =>
    columnsOf(row)
      .map((name) => toField(row[name] as Value))
      .join(","),
  read(line, columns) {
    const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)].map(
      ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
    );
    return fields.length === columns.length
      ? Object.fromEntries(columns.map((name, at) => [name, fields[at]]))
      : undefined;
  },
};

function toField(value: Value): string {
  if (value === null) {
    return "";
  }
  const text = String(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The formats that files are written in. */
export const formats = { jsonl, csv } as const satisfies Record<string, Format>;
export type FormatName = keyof typeof formats;
