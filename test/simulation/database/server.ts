import type { DatabaseSync } from "node:sqlite";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { SqliteStorage } from "#src/storage/storage.ts";
import { type Recorded, Recording } from "../replay/recording.ts";
import { budgetStatements } from "./budgets.ts";
import { chargeStatements } from "./charges.ts";
import { coreStatements } from "./cores.ts";
import { lotStatements } from "./lots.ts";
import { prepareOnce } from "./prepare-once.ts";
import { type Meaning, type Tables, tablesOf } from "./statement.ts";

const meanings: Readonly<Record<string, Meaning>> = {
  ...{ ...coreStatements, ...lotStatements },
  ...{ ...chargeStatements, ...budgetStatements },
};

/** SQLite's codes of constraint violations, and the corresponding states of PostgreSQL. */
const states: Readonly<Record<number, string>> = {
  275: "23514",
  1299: "23502",
  1555: "23505",
  2067: "23505",
  787: "23503",
};

/** Tables that are never copied or emptied: they belong to the schema, or refuse it. */
const kept = /^(mikro_orm_migrations|sqlite_.*|audit_event)$/;

/** Indexes for our statements. PostgreSQL's planner needs none of them. */
const shortcuts = `
  create index simulated_account_slices on slice (account_id, core_id, epoch, granted, spent) where open;
  create index simulated_lot_kinds on lot (account_id, kind);
  create index simulated_core_slices on slice (core_id, epoch, account_id) where open;
  create index simulated_core_budgets on budget_slice (core_id, epoch) where open;`;

/** Statements that change nothing, and so need no transaction. */
const reading: ReadonlySet<string> = new Set([
  ...[
    "epochs",
    "lock adopted",
    "account slices",
    "slice page",
    "settled",
    "archived",
    "is charged",
    "lock lots",
    "facts",
  ],
  ...["lock budget", "budget elsewhere", "budget spending", "lock budget slice", "budget slice", "budget slice page"],
]);

/**
 * A PostgreSQL for the simulation: the product's schema and constraints in SQLite, in memory, with the product's
 * statements by name. Each name has an implementation of what PostgreSQL does. The ORM works on it unchanged.
 */
export class SimulatedServer {
  readonly storage: SqliteStorage;
  readonly database: DatabaseSync;
  readonly tables: Tables;
  /** The time on the server's clock. */
  now: () => number = () => 0;
  /** The world's time, for judges' triggers, as `world_now()`. Null: none of them listens. */
  worldNow: () => number | null = () => null;
  /** Which continuation of the database this is: each loss begins the next. */
  timeline = 1;
  /** Replaced statements, by name. */
  instead: Readonly<Record<string, Meaning>> = {};
  /** The number of executed statements, by name. */
  readonly done = new Map<string, number>();
  readonly #names: readonly string[];
  /** What was made for judges. */
  readonly #listeners = new Set<string>();
  #recording: Recording | undefined;

  private constructor(storage: SqliteStorage, database: DatabaseSync) {
    this.storage = storage;
    this.database = database;
    // The ORM makes its statements return bigints.
    const prepare = database.prepare.bind(database);
    prepareOnce(database);
    database.function("world_now", () => this.worldNow());
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

  /**
   * Makes a judge's temporary tables, and the triggers that fill them, unless they are there, and empties the tables. They
   * stay: a change of the schema makes every statement be prepared anew.
   */
  listen(schema: string, tables: readonly string[]): void {
    if (!this.#listeners.has(schema)) {
      this.#listeners.add(schema);
      this.database.exec(schema);
    }
    for (const table of tables) {
      this.tables.run(`delete from temp.${table}`);
    }
  }

  /** Records everything that is done while a function runs. */
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

  /** Executes a statement, alone or in the open transaction. Throws the driver's errors. */
  execute(name: string, text: string, values: readonly unknown[]): readonly object[] {
    const run = () => this.#execute(name, values);
    return this.#recording === undefined ? run() : this.#recording.statement(name, text, values, run);
  }

  /** The replacement of an ORM statement, found by the statement's beginning. Undefined: none. */
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

  /** Rolls back a transaction whose client is gone. */
  rollback(): void {
    if (this.database.isTransaction) {
      this.#recording?.bracket("rollback");
      this.tables.run("rollback");
    }
  }

  /** Remembers the current tables, for a standby that is slightly behind, or a backup. */
  remember(): void {
    for (const name of this.#names) {
      this.tables.run(`delete from past."${name}"`);
      this.tables.run(`insert into past."${name}" select * from main."${name}"`);
    }
  }

  /** Restores the remembered tables, except keys, whose limits operators would set again. */
  goBack(): void {
    this.timeline++;
    for (const name of this.#names.filter((one) => one !== "api_key")) {
      this.tables.run(`delete from main."${name}"`);
      this.tables.run(`insert into main."${name}" select * from past."${name}"`);
    }
  }

  /** Empties all tables for the next world. */
  empty(): void {
    this.rollback();
    for (const name of this.#names) {
      this.tables.run(`delete from main."${name}"`);
    }
    this.done.clear();
    this.timeline = 1;
    this.worldNow = () => null;
  }
}
