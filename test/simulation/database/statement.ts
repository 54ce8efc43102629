import type { SQLInputValue, StatementSync } from "node:sqlite";

/** The tables as a statement sees them. */
export interface Tables {
  /** Returns how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  /** Reads rows. Inside one transaction, rows that were read before are reused until something changes. */
  keep<Rows extends readonly object[]>(name: string, read: () => Rows): Rows;
  /** The server's clock, in milliseconds since the epoch. */
  now(): number;
}

/** The implementation of a product's statement in SQLite. Its parameters are the driver's, in their order. */
export type Meaning = (tables: Tables, values: readonly unknown[]) => readonly object[];

/** The tables with SQLite statements that are each prepared once. */
export function tablesOf(
  database: { readonly isTransaction: boolean },
  prepareApart: (sql: string) => StatementSync,
  now: () => number,
): Tables {
  const statements = new Map<string, { readonly statement: StatementSync; readonly isRead: boolean }>();
  const kept = new Map<string, readonly object[]>();
  const prepare = (sql: string) => {
    let found = statements.get(sql);
    if (found === undefined) {
      found = { statement: prepareApart(sql), isRead: /^\s*select/.test(sql) };
      statements.set(sql, found);
    }
    if (!found.isRead) {
      kept.clear(); // also at the ends of transactions, which are statements, too
    }
    return found.statement;
  };
  return {
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    all: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values) as Row | undefined,
    keep<Rows extends readonly object[]>(name: string, read: () => Rows): Rows {
      const rows = (kept.get(name) as Rows | undefined) ?? read();
      if (database.isTransaction) {
        kept.set(name, rows);
      }
      return rows;
    },
    now,
  };
}

/** Parses a PostgreSQL array literal, the form of the settlement's parameters. */
export function parseArray(literal: unknown, type: string): readonly (string | number | null)[] {
  const text = String(literal).slice(1, -1);
  if (text === "") {
    return [];
  }
  if (type === "text") {
    return JSON.parse(`[${text}]`) as string[];
  }
  const parts = text.split(",");
  return parts.map((part) => (part === "null" ? null : type === "uuid" ? part : Number(part)));
}
