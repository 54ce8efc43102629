/** A table: the names of its columns and the cells of its rows. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** How wide a table for people is, unless they ask for all of it. */
export const usualWidth = 100;
/** The characters between two columns. */
export const gap = "  ";
/** Where room is short a text is cut to so many characters. */
const longText = 40;
/** The same where there is still no room without minor columns. */
const shortestText = 24;
const shortTexts = [32, 28, shortestText];
/** A sentence has at least so many characters in a line, and more where other columns leave them. */
const shortSentence = 34;
/** The same rather than that a column is left out. */
const shortestSentence = 24;

/** Columns that people look at last, which are the first to be left out. */
const minor = `
  limits before after data priorities weight capacity routing prefix manages address email run_id sha256 streamed
  reasoning_tokens cached_input_tokens surface first_token_ms finish_reason shortfall_usd version price_version
  base_input base_output max_keys in_flight_limit low_balance_usd free_only class left_out in_flight_elsewhere
  avoided_elsewhere cache_hit_rate frozen_at created_at person_id key_id event_id lot_id server url`
  .trim()
  .split(/\s+/);

/** Columns for which people ask: what happened, to how much, and when. They stay when others at the right leave. */
const vital =
  /^(reason|http_status|status|outcome|state|health|at|since|where|name|kind|cost_usd|amount_usd|frozen|last4|revoked_at)$/;
/** Columns that leave just before them, in this order: counts before what they are of. */
const late = ["output_tokens", "input_tokens", "model"];

/** Whether a cell is copied into the next command, and therefore shown whole or not at all. */
const isCopied = (name: string) => /(^|_)(id|ref|key|token|secret|url|file|part|target|where)$/.test(name);
const isSentence = (name: string) => /^(message|description|detail|what|advice|problem|reason|error)$/.test(name);

/**
 * The same table in a width: first without the columns that are empty in every row, then with times to the second and
 * methods without their service, then without minor columns, then with shorter texts, at last without those at the right,
 * of which vital ones leave last. A cell of several lines is a sentence, which is made narrower before a vital one leaves.
 */
export function narrow(table: Table, width: number): Table {
  let narrowed = table;
  const whole: Whole = new Map();
  const cutTo = (most: number, least?: number) => (before: Table) => shorten(before, whole, { width, most, least });
  const steps = [
    withoutEmpty,
    abbreviate,
    cutTo(longText),
    ...minor.map((name) => (before: Table) => without(before, name)),
    ...shortTexts.map((most) => cutTo(most)),
    ...table.columns
      .slice(1)
      .filter((name) => !(vital.test(name) || late.includes(name)))
      .reverse()
      .concat(late)
      .map((name) => (before: Table) => without(before, name)),
    cutTo(shortestText, shortestSentence),
  ];
  for (const step of steps) {
    if (widthOf(narrowed) <= width) {
      return whole.size === 0 ? narrowed : cutTo(Number.POSITIVE_INFINITY)(narrowed); // sentences take what has become free
    }
    narrowed = step(narrowed);
  }
  while (widthOf(narrowed) > width && narrowed.columns.length > 1) {
    narrowed = without(narrowed, narrowed.columns.at(-1) ?? "");
  }
  return widthOf(narrowed) <= width ? narrowed : mapCells(narrowed, (cell) => cut(cell, width));
}

/** How wide each column is, its name included. */
export function widthsOf({ columns, rows }: Table): number[] {
  return columns.map((name, at) => Math.max(name.length, ...rows.map((row) => longestLine(row[at] ?? ""))));
}

function widthOf(table: Table): number {
  const widths = widthsOf(table);
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1));
}

function longestLine(cell: string): number {
  return Math.max(...cell.split("\n").map(({ length }) => length));
}

function withoutEmpty(table: Table): Table {
  const empty = table.columns.filter((_, at) => table.rows.every((row) => row[at] === "-"));
  return empty.reduce(without, table);
}

/** A table without a column. The last one stays. */
function without(table: Table, name: string): Table {
  const at = table.columns.indexOf(name);
  if (at === -1 || table.columns.length === 1) {
    return table;
  }
  return { columns: table.columns.toSpliced(at, 1), rows: table.rows.map((row) => row.toSpliced(at, 1)) };
}

/** The same table with times to the second, and the names of methods without those of their services. */
function abbreviate(table: Table): Table {
  return mapCells(table, (cell, name) =>
    name === "method"
      ? cell.slice(cell.lastIndexOf("/") + 1)
      : cell.replace(/^(\d{4}-\d\d-\d\dT[\d:]{8})\.\d+Z$/, "$1Z"),
  );
}

/** Sentences that were broken into lines, by what they became. */
type Whole = Map<string, string>;

interface Room {
  readonly width: number;
  /** The characters of a text. */
  readonly most: number;
  /** The least characters of a sentence's line. */
  readonly least?: number | undefined;
}

function shorten(table: Table, whole: Whole, { width, most, least = shortSentence }: Room): Table {
  const texts = mapCells(table, (cell, name) => (isCopied(name) || isSentence(name) ? cell : cut(cell, most)));
  const sentences = table.columns.filter(isSentence);
  const room = width - widthOf(sentences.reduce(without, texts)) - gap.length;
  const line = sentences.length === 1 ? Math.max(least, room) : least;
  return mapCells(texts, (cell, name) => {
    if (!isSentence(name)) {
      return cell;
    }
    const sentence = whole.get(cell) ?? cell;
    const lines = wrap(sentence, line);
    whole.set(lines, sentence);
    return lines;
  });
}

function mapCells({ columns, rows }: Table, change: (cell: string, column: string) => string): Table {
  return { columns, rows: rows.map((row) => row.map((cell, at) => change(cell, columns[at] ?? ""))) };
}

function cut(cell: string, most: number): string {
  return longestLine(cell) <= most ? cell : `${cell.slice(0, most - 1)}…`;
}

/** A text in lines that break between words; a word that is longer than a line is cut into pieces. */
function wrap(text: string, most: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s/).flatMap((whole) => whole.match(new RegExp(`.{1,${most}}`, "gu")) ?? [])) {
    if (line !== "" && line.length + 1 + word.length > most) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
