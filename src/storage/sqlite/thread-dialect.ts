import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from "kysely";
import type { Snapshot } from "../reads/snapshot.ts";
import type { DatabaseThread } from "./database-thread.ts";
import { readNumbers } from "./read-numbers.ts";
import type { Ran } from "./statements.ts";
import { WriteGroups } from "./write-groups.ts";

/** What the dialect works with. */
export interface FileAccess {
  /** The thread that only reads. */
  readonly reader: Pick<DatabaseThread, "call">;
  /** The thread that writes. */
  readonly writer: Pick<DatabaseThread, "call">;
  snapshot(): Promise<Snapshot>;
}

/**
 * Lets Kysely, and with it the ORM, use a file through threads, so that nothing here waits for a disk: reads by one
 * thread, transactions in groups by another, transactions that only read and streams of rows by a snapshot.
 */
export function threadDialect(access: FileAccess): Dialect {
  return {
    createAdapter: () => new ManyConnections(),
    createDriver: () => new ThreadDriver(access),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class ManyConnections extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** What a transaction does with a statement, and at its end. */
interface Transaction {
  run(text: string, parameters: readonly unknown[]): Promise<Ran>;
  keep(): Promise<void>;
  undo(): Promise<void>;
}

/** Makes connections, each of which may have a transaction of its own. */
class ThreadDriver implements Driver {
  readonly #access: FileAccess;
  readonly #groups: WriteGroups;

  constructor(access: FileAccess) {
    this.#access = access;
    this.#groups = new WriteGroups(access.writer);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<ThreadConnection> {
    return new ThreadConnection(this.#access, this.#groups);
  }

  async beginTransaction(connection: ThreadConnection, { accessMode }: TransactionSettings): Promise<void> {
    if (accessMode === "read only") {
      connection.transaction = readingTransaction(await this.#access.snapshot());
      return;
    }
    await this.#groups.begin();
    connection.transaction = this.#groups;
  }

  async commitTransaction(connection: ThreadConnection): Promise<void> {
    await connection.endTransaction()?.keep();
  }

  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.endTransaction()?.undo();
  }

  async savepoint(connection: ThreadConnection, name: string): Promise<void> {
    await connection.run(`savepoint ${name}`);
  }

  async rollbackToSavepoint(connection: ThreadConnection, name: string): Promise<void> {
    await connection.run(`rollback to ${name}`);
  }

  async releaseSavepoint(connection: ThreadConnection, name: string): Promise<void> {
    await connection.run(`release ${name}`);
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** A transaction that only reads sees one state of the file and keeps nobody waiting. */
function readingTransaction(snapshot: Snapshot): Transaction {
  return {
    run: async (text, parameters) => ({ rows: (await snapshot.few(text, parameters)).map(toRow) }),
    keep: () => snapshot.close(),
    undo: () => snapshot.close(),
  };
}

/** Statements that read. One that writes after such a word fails: the reader's connection cannot write. */
const reads = /^\s*(select|with|explain)\b/i;

class ThreadConnection implements DatabaseConnection {
  readonly #access: FileAccess;
  readonly #groups: WriteGroups;
  /** Undefined: none is under way. */
  transaction: Transaction | undefined;

  constructor(access: FileAccess, groups: WriteGroups) {
    this.#access = access;
    this.#groups = groups;
  }

  endTransaction(): Transaction | undefined {
    const { transaction } = this;
    this.transaction = undefined;
    return transaction;
  }

  run(text: string, parameters: readonly unknown[] = []): Promise<Ran> {
    if (this.transaction !== undefined) {
      return this.transaction.run(text, parameters);
    }
    return reads.test(text)
      ? this.#access.reader.call("run", [text, parameters])
      : this.#groups.alone(text, parameters);
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes, insertId } = await this.run(text, parameters);
    return {
      rows: rows as R[],
      ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
      ...(insertId !== undefined && { insertId: BigInt(insertId) }),
    };
  }

  async *streamQuery<R>({ sql: text, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const snapshot = await this.#access.snapshot();
    try {
      for await (const rows of snapshot.rows(text, parameters)) {
        yield { rows: rows.map(toRow) as R[] };
      }
    } finally {
      await snapshot.close();
    }
  }
}

const toRow = (row: object) => readNumbers(row as Parameters<typeof readNumbers>[0]);
