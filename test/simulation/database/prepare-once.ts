import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** The most statements that are kept: some have texts of their own, and nobody runs them again. */
const mostKept = 2000;

/** Strings, quoted names, parameters, and times in milliseconds, which are no digits of a fraction. */
const token = /[xX]?'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\?\d*|(?<!\.)\b\d{13}\b(?!\.)/g;
/** Ids and whole numbers: what differs from one use of a statement to the next, and decides about no plan. */
const value = /^'((?:req_)?[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+)'$/;

/** The value of a parameter. Undefined: its caller gives it. */
type Value = string | bigint | undefined;

/**
 * Makes a database prepare each statement once, not at each use. The ORM writes values into its statements: they become
 * parameters.
 */
export function prepareOnce(database: DatabaseSync): void {
  const statements = new Map<string, StatementSync>();
  const prepare = database.prepare.bind(database);
  const prepareKept = (sql: string) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      if (statements.size >= mostKept) {
        statements.clear();
      }
      statement = prepare(sql);
      const columns = statement.columns();
      statement.columns = () => columns;
      statements.set(sql, statement);
    }
    return statement;
  };
  database.prepare = (sql) => {
    const values: Value[] = [];
    let isNumbered = false;
    const general = sql.replaceAll(token, (text) => {
      const [, written] = value.exec(text) ?? [];
      isNumbered ||= /^\?\d/.test(text);
      if (written === undefined && !/^\d/.test(text)) {
        values.push(...(text === "?" ? [undefined] : []));
        return text;
      }
      values.push(written ?? BigInt(text));
      return "?";
    });
    return general === sql || isNumbered ? prepareKept(sql) : withValues(prepareKept(general), values);
  };
}

/** A statement some of whose parameters have values. */
function withValues(statement: StatementSync, values: readonly Value[]): StatementSync {
  const all = (given: SQLInputValue[]): SQLInputValue[] => {
    let place = 0;
    return values.map((known) => known ?? (given[place++] as SQLInputValue));
  };
  const bound: Pick<StatementSync, "columns" | "setReadBigInts" | "all" | "get" | "run" | "iterate"> = {
    columns: () => statement.columns(),
    setReadBigInts: (enabled: boolean) => statement.setReadBigInts(enabled),
    all: (...given: SQLInputValue[]) => statement.all(...all(given)),
    get: (...given: SQLInputValue[]) => statement.get(...all(given)),
    run: (...given: SQLInputValue[]) => statement.run(...all(given)),
    iterate: (...given: SQLInputValue[]) => statement.iterate(...all(given)),
  } as never;
  return bound as StatementSync;
}
