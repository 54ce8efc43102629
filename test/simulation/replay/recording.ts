import type { DatabaseSync } from "node:sqlite";

type Row = Readonly<Record<string, unknown>>;

/** A ledger statement and the simulated server's answer. */
export interface RecordedStatement {
  readonly kind: "statement";
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rows: readonly object[];
  /** PostgreSQL's error state. Undefined: it succeeded. */
  readonly state: string | undefined;
}

/** The beginning or the end of a transaction. */
export interface RecordedBracket {
  readonly kind: "begin" | "commit" | "rollback";
}

/** A row that the ORM changed, not a statement of the ledger. */
export interface RecordedRow {
  readonly kind: "row";
  readonly table: string;
  readonly key: Row;
  /** Undefined: the row was removed. */
  readonly row: Row | undefined;
}

export type Recorded = RecordedStatement | RecordedBracket | RecordedRow;

interface Change {
  readonly table_name: string;
  readonly key: string;
}

/** Records, in order, everything that is done to the tables of a simulated server. */
export class Recording {
  readonly all: Recorded[] = [];
  readonly #database: DatabaseSync;
  readonly #triggers: string[] = [];

  constructor(database: DatabaseSync, tables: readonly string[]) {
    this.#database = database;
    database.exec("create temp table change (table_name text, key text)");
    for (const table of tables) {
      const columns = database
        .prepare("select name from pragma_table_info(?) where pk > 0 order by pk")
        .all(table) as unknown as readonly { readonly name: string }[];
      for (const [event, side] of [
        ["insert", "new"],
        ["update", "new"],
        ["delete", "old"],
      ]) {
        const key = columns.map(({ name }) => `'${name}', ${side}."${name}"`).join(", ");
        this.#triggers.push(`${event} ${table}`);
        database.exec(
          `create temp trigger "${event} ${table}" after ${event} on main."${table}"
           begin insert into temp.change values ('${table}', json_object(${key})); end`,
        );
      }
    }
  }

  /** Ends the recording, and takes the remaining changes. */
  end(): void {
    this.#takeRows();
    for (const name of this.#triggers) {
      this.#database.exec(`drop trigger temp."${name}"`);
    }
    this.#database.exec("drop table temp.change");
  }

  bracket(kind: RecordedBracket["kind"]): void {
    if (kind === "begin") {
      this.#takeRows();
    }
    this.all.push({ kind });
  }

  /** Runs a ledger statement, and records its result. */
  statement<T extends readonly object[]>(name: string, text: string, values: readonly unknown[], run: () => T): T {
    if (this.all.at(-1)?.kind !== "begin") {
      this.#takeRows();
    }
    const asked = { kind: "statement" as const, name, text, values: structuredClone(values) };
    try {
      const rows = run();
      this.all.push({ ...asked, rows: structuredClone(rows), state: undefined });
      return rows;
    } catch (error) {
      this.all.push({ ...asked, rows: [], state: String((error as { code?: unknown }).code) });
      throw error;
    } finally {
      this.#database.exec("delete from temp.change");
    }
  }

  #takeRows(): void {
    const changes = this.#database.prepare("select distinct table_name, key from temp.change").all();
    for (const { table_name: table, key: text } of changes as unknown as readonly Change[]) {
      const key = JSON.parse(text) as Row;
      const names = Object.keys(key);
      const sql = `select * from main."${table}" where ${names.map((name) => `"${name}" = ?`).join(" and ")}`;
      const row = this.#database.prepare(sql).get(...(Object.values(key) as string[]));
      this.all.push({ kind: "row", table, key, row: row === undefined ? undefined : { ...row } });
    }
    if (changes.length > 0) {
      this.#database.exec("delete from temp.change");
    }
  }
}
