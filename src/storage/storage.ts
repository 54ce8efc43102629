import type { DatabaseSync } from "node:sqlite";
import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from "@mikro-orm/sql";
import type { Pool } from "pg";
import type { History } from "./postgresql/history.ts";
import type { Standby } from "./postgresql/standby.ts";
import type { Reach, Snapshot } from "./reads/snapshot.ts";
import type { OpenedFiles } from "./sqlite/opened-files.ts";

/** How long a database server may stay silent before it counts as gone. */
export interface Patience {
  /** While a connection is made, or waited for because all are in use. */
  readonly connectMs: number;
  /** While a statement waits; also how long the server keeps a transaction and its locks for a silent core. */
  readonly answerMs: number;
}

/** The database: through the ORM, and directly for the statements that must be fast. */
export type Storage = SqliteStorage | PostgresqlStorage;

interface Common {
  readonly orm: MikroORM<AbstractSqlDriver, SqlEntityManager>;
  /**
   * Opens a snapshot, which the caller closes. Waits while too many are open, because each takes a thread or a
   * connection. Reads some rows, unless told that it reads whole tables.
   */
  snapshot(reach?: Reach): Promise<Snapshot>;
  /** Closes the connections and releases the lock. */
  close(): Promise<void>;
}

/** One file, one process. */
export interface SqliteStorage extends Common {
  readonly dialect: "sqlite";
  /** ":memory:": a database that no other connection can open. */
  readonly path: string;
  /** Its files, to check whether they are in their place. Undefined: the database is in memory. */
  readonly files: OpenedFiles | undefined;
  /**
   * Runs a function with the connection of a database in memory while no transaction of the ORM is under way. Rejects
   * for a file, whose connections are on threads.
   */
  exclusive<T>(run: (database: DatabaseSync) => T): Promise<T>;
}

/** One server, many cores. */
export interface PostgresqlStorage extends Common {
  readonly dialect: "postgresql";
  readonly pool: Pool;
  /** Whether a pooler stands before it, so that each transaction may have another session. */
  readonly pooled: boolean;
  /** Whose continuation it is. */
  readonly history: Pick<History, "timeline" | "turns">;
  /** What answers long reads. Undefined: the primary does. */
  readonly standby: Standby | undefined;
}
