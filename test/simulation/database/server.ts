import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openStorage, type SqliteStorage } from "../../../src/storage/orm.ts";
import { type Recorded, Recording } from "../replay/recording.ts";
import { budgetStatements } from "./budgets.ts";
import { chargeStatements } from "./charges.ts";
import { coreStatements } from "./cores.ts";
import { lotStatements } from "./lots.ts";
import { type Meaning, type Tables, tablesOf } from "./statement.ts";

const meanings: Readonly<Record<string, Meaning>> = {
  ...{ ...coreStatements, ...lotStatements },
  ...{ ...chargeStatements, ...budgetStatements },
};

/** SQLite's codes of broken constraints, and PostgreSQL's states for them. */
const states: Readonly<Record<number, string>> = {
  275: "23514",
  1299: "23502",
  1555: "23505",
  2067: "23505",
  787: "23503",
};

/** Tables that are never copied or emptied: they are the schema's, or refuse it. */
const kept = /^(mikro_orm_migrations|sqlite_.*|audit_event)$/;

/** Where our statements find quickly what PostgreSQL's planner finds otherwise. */
const shortcuts = `
  create index simulated_account_slices on slice (account_id, core_id, epoch, granted, spent) where open;
  create index simulated_lot_kinds on lot (account_id, kind);
  create index simulated_core_slices on slice (core_id, epoch, account_id) where open;
  create index simulated_core_budgets on budget_slice (core_id, epoch) where open;`;

/** Statements that change nothing: they need no transaction of their own. */
const reading: ReadonlySet<string> = new Set([
  ...["epochs", "lock adopted", "account slices", "slice page", "settled", "is charged", "lock lots", "facts"],
  ...["lock budget", "budget elsewhere", "budget spending", "budget slice", "budget slice page"],
]);

/** Has the ORM's statements prepared once each, not each time they are asked for. */
function prepareOnce(database: DatabaseSync): void {
  const statements = new Map<string, StatementSync>();
  const prepare = database.prepare.bind(database);
  database.prepare = (sql) => {
    const statement = statements.get(sql) ?? prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}

/**
 * A PostgreSQL for the simulation: the product's schema and constraints in SQLite, in memory, and on it the statements of
 * the product by their names, each saying what PostgreSQL does for it. The ORM works on it as it is.
 */
export class SimulatedServer {
  readonly storage: SqliteStorage;
  readonly database: DatabaseSync;
  readonly tables: Tables;
  /** What the server's clock shows. */
  now: () => number = () => 0;
  /** Statements that do something else, by name. */
  instead: Readonly<Record<string, Meaning>> = {};
  /** Statements done, by name. */
  readonly done = new Map<string, number>();
  readonly #names: readonly string[];
  #recording: Recording | undefined;

  private constructor(storage: SqliteStorage, database: DatabaseSync) {
    this.storage = storage;
    this.database = database;
    // The ORM has its statements answer with bigints.
    const prepare = database.prepare.bind(database);
    prepareOnce(database);
    this.tables = tablesOf(database, prepare, () => this.now());
    const tables = this.tables.all<{ name: string }>("select name from sqlite_master where type = 'table'");
    this.#names = tables.map(({ name }) => name).filter((name) => !kept.test(name));
    database.exec(`pragma foreign_keys = off; attach ':memory:' as past; ${shortcuts}`);
    for (const name of this.#names) {
      database.exec(`create table past."${name}" as select * from main."${name}"`);
    }
  }

  static async open(): Promise<SimulatedServer> {
    const storage = await openStorage("sqlite::memory:");
    if (storage.dialect !== "sqlite") {
      throw new Error("not SQLite");
    }
    return new SimulatedServer(storage, await storage.exclusive((database) => database));
  }

  close(): Promise<void> {
    return this.storage.close();
  }

  /** Takes down all that is done while a function runs. */
  async record(run: (soFar: readonly Recorded[]) => Promise<unknown>): Promise<readonly Recorded[]> {
    this.empty();
    const recording = new Recording(this.database, this.#names);
    this.#recording = recording;
    try {
      await run(recording.all);
    } finally {
      this.#recording = undefined;
      recording.end();
    }
    return recording.all;
  }

  /** Does a statement by itself, or as a part of the transaction that is open. Throws as the driver does. */
  execute(name: string, text: string, values: readonly unknown[]): readonly object[] {
    const run = () => this.#execute(name, values);
    return this.#recording === undefined ? run() : this.#recording.statement(name, text, values, run);
  }

  /** What the ORM's statement does instead of what it says: named by how it begins. */
  findOther(sql: string): Meaning | undefined {
    return Object.entries(this.instead).find(([start]) => sql.startsWith(start))?.[1];
  }

  #execute(name: string, values: readonly unknown[]): readonly object[] {
    const meaning = this.instead[name] ?? meanings[name];
    if (meaning === undefined) {
      throw new Error(
        `the simulation does not know the statement "${name}": say in test/simulation/database what it does`,
      );
    }
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    const alone = !reading.has(name) && !this.database.isTransaction;
    if (alone) {
      this.tables.run("begin immediate");
    }
    try {
      const rows = meaning(this.tables, values);
      if (alone) {
        this.tables.run("commit");
      }
      return rows;
    } catch (error) {
      if (this.database.isTransaction) {
        this.tables.run("rollback");
      }
      const code = states[(error as { errcode?: number }).errcode ?? 0];
      throw code === undefined ? error : Object.assign(error as Error, { code });
    }
  }

  begin(): void {
    this.#recording?.bracket("begin");
    this.tables.run("begin immediate");
  }

  commit(): void {
    this.#recording?.bracket("commit");
    this.tables.run("commit");
  }

  /** Ends a transaction whose client is gone. */
  rollback(): void {
    if (this.database.isTransaction) {
      this.#recording?.bracket("rollback");
      this.tables.run("rollback");
    }
  }

  /** Remembers the tables as they are: what a standby has that is a little behind, or a backup. */
  remember(): void {
    for (const name of this.#names) {
      this.tables.run(`delete from past."${name}"`);
      this.tables.run(`insert into past."${name}" select * from main."${name}"`);
    }
  }

  /** Goes back to what was remembered, but for keys, whose limits operators would set again. */
  goBack(): void {
    for (const name of this.#names.filter((one) => one !== "api_key")) {
      this.tables.run(`delete from main."${name}"`);
      this.tables.run(`insert into main."${name}" select * from past."${name}"`);
    }
  }

  /** Empties all tables, for the next world. */
  empty(): void {
    this.rollback();
    for (const name of this.#names) {
      this.tables.run(`delete from main."${name}"`);
    }
    this.done.clear();
  }
}
