type Value = string | number | boolean | null | Readonly<Record<string, string>>;
type Row = Readonly<Record<string, unknown>>;

/** Converts rows to lines of a file and back. */
export interface Format {
  /** The first line of a file, with the columns of its rows. Undefined: there is none. */
  header(columns: readonly string[]): string | undefined;
  line(row: Row): string;
  /** Reads a line back. `columns`: those of the header. Undefined: it is no complete line. */
  read(line: string, columns: readonly string[]): Row | undefined;
}

/** The columns of a table. Fields with lists are left out. */
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

/** CSV as in RFC 4180, except for line ends. A null is an empty field; an empty text is in quotes; an object is JSON. */
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
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The formats of files. */
export const formats = { jsonl, csv } as const satisfies Record<string, Format>;
export type FormatName = keyof typeof formats;
