import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Transaction } from "@mikro-orm/core";
import { Migrator } from "@mikro-orm/migrations";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { type AbstractSqlDriver, MikroORM, type SqlEntityManager, SqliteDriver } from "@mikro-orm/sql";
import type { ClientBase, Pool, QueryConfig } from "pg";
import { explainDiskFault } from "#lib/errors/disk-faults.ts";
import { entities } from "./entities/index.ts";
import { migrations as postgresqlMigrations } from "./migrations/postgresql/index.ts";
import { migrations as sqliteMigrations } from "./migrations/sqlite/index.ts";
import { daysAheadOf, makeDays } from "./postgresql/days.ts";
import { History, readPosition } from "./postgresql/history.ts";
import { primaryClient } from "./postgresql/primary.ts";
import { listMigrationsIn, makeSchema, schemaOf } from "./postgresql/schema.ts";
import { serversOf } from "./postgresql/servers.ts";
import { Standby, type StandbyOptions } from "./postgresql/standby.ts";
import { checkServer, sessionSetup } from "./session.ts";
import { limited, openPostgresqlSnapshot, type Reach, type Snapshot } from "./snapshot.ts";
import { accessFile, accessMemory } from "./sqlite/access.ts";
import type { OpenedFiles } from "./sqlite/opened-files.ts";
import { AnswerLimit } from "./workarounds/answer-limit.ts";
import { endPool } from "./workarounds/ending-pool.ts";
import { forgetAnswers } from "./workarounds/kept-answers.ts";
import { releaseLostConnections } from "./workarounds/lost-connections.ts";

/** How long a database server may stay silent before it counts as gone. */
export interface Patience {
  /** While a connection is made, or waited for because all are in use. */
  readonly connectMs: number;
  /** While a statement waits; also how long the server keeps a transaction and its locks for a silent core. */
  readonly answerMs: number;
}

const usualPatience: Patience = { connectMs: 10_000, answerMs: 20_000 };
/** After this long without traffic the system probes the peer, and gives it up ten seconds later. */
const probeAfterMs = 10_000;

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
  readonly history: Pick<History, "timeline">;
  /** What answers long reads. Undefined: the primary does. */
  readonly standby: Standby | undefined;
}

/**
 * Opens `sqlite:PATH`, `sqlite::memory:` or `postgresql://…`, of several servers the one that takes writes, and brings its
 * schema up to date. Throws when another process has the SQLite file, when a newer version of the program or one from
 * before the first release made the schema, or when the server cannot be written to. Warns of dangerous settings of a
 * server, and whenever a thread of a file ends. The standby is not needed for a start;
 * `history`: what the process knows of an earlier one's database. Absent: nothing.
 */
export async function openStorage(
  url: string,
  patience = usualPatience,
  warn: (message: string) => void = () => {},
  {
    standby,
    history = new History(),
  }: { readonly standby?: StandbyOptions | undefined; readonly history?: History } = {},
): Promise<Storage> {
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length);
    try {
      return await migrated(await openSqlite(path, warn), migrate);
    } catch (error) {
      throw explainDiskFault(resolve(path), error);
    }
  }
  const { storage, limit } = await openServer(url, patience, history);
  let pooled = false;
  await migrated(storage, async () => {
    const schema = schemaOf(url);
    if (schema !== undefined) {
      await makeSchema(storage.pool, schema);
    }
    const server = await checkServer(storage.pool);
    for (const finding of server.findings) {
      warn(finding);
    }
    pooled = server.pooled;
    listMigrationsIn(storage.orm, server.schema);
    await migrateAlone(storage);
    await makeDays(storage.pool, daysAheadOf(Date.now()));
  });
  limit.begin(patience.answerMs); // only now: a migration may build an index over all rows
  if (standby === undefined) {
    return { ...storage, pooled };
  }
  const second = new Standby(storage.pool, standby, sessionSetup(patience.answerMs));
  const close = () => second.close().finally(() => storage.close());
  return { ...storage, pooled, standby: second, close };
}

async function migrated<T extends Storage>(storage: T, bringUpToDate: (storage: T) => Promise<void>): Promise<T> {
  try {
    await bringUpToDate(storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
  return storage;
}

async function openSqlite(path: string, warn: (message: string) => void): Promise<SqliteStorage> {
  const access = path === ":memory:" ? accessMemory() : await accessFile(path, warn);
  const orm = await MikroORM.init({
    ...common("sqlite", sqliteMigrations),
    driver: SqliteDriver,
    dbName: path,
    driverOptions: access.dialect,
  });
  const { files, database } = access;
  return {
    dialect: "sqlite",
    path,
    files,
    orm,
    snapshot: limited(access.snapshot),
    async exclusive(run) {
      if (database === undefined) {
        throw new Error("the connections of a file are on threads");
      }
      return orm.em
        .getKysely()
        .connection()
        .execute(async () => run(database));
    },
    async close() {
      await orm.close();
      await access.close();
    },
  };
}

/** A server, and the limit on its answers, which has not begun yet. */
async function openServer(url: string, { connectMs, answerMs }: Patience, history: History) {
  let pool: Pool | undefined;
  const limit = new AnswerLimit();
  const servers = serversOf(url);
  const orm = await MikroORM.init({
    ...common("postgresql", postgresqlMigrations),
    driver: PostgreSqlDriver,
    clientUrl: servers[0],
    driverOptions: {
      connectionString: servers[0], // the ORM drops the URL's parameters, including sslmode
      ...(servers.length > 1 && { Client: primaryClient(servers, history, connectMs) }),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: probeAfterMs,
      onConnect: async (client: ClientBase) => {
        await client.query({ text: sessionSetup(answerMs), query_timeout: connectMs } as QueryConfig);
        history.follow(await readPosition(client, connectMs));
      },
      onPoolCreated: (created: Pool) => {
        pool = created;
        releaseLostConnections(pool);
        forgetAnswers(pool);
        limit.watch(pool);
      },
    },
  });
  await orm.connect().catch((error: unknown) => {
    throw new Error(`PostgreSQL: ${toReason(error)}: check that it runs, and TOLLGATE_STORAGE_URL or storage.url`, {
      cause: error,
    });
  });
  if (pool === undefined) {
    throw new Error("the driver made no connection pool");
  }
  const connections = pool;
  const snapshot = limited((reach) => openPostgresqlSnapshot(connections, reach));
  const close = () => endPool(connections, () => orm.close());
  const storage: PostgresqlStorage = {
    dialect: "postgresql",
    orm,
    pool,
    pooled: false,
    standby: undefined,
    history,
    snapshot,
    close,
  };
  return { storage, limit };
}

/**
 * The driver's message, without the name that the ORM puts before it. A host with several addresses has only a code.
 */
function toReason(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message.replace(/^\w*Error: ?/, "").trim() || String(code);
}

/** The last commit that reads databases from before the first release, whose migrations are gone. */
const lastBeforeRelease = "95aa00db";

/** Migrations only run forward: a program must not write money into a schema that it does not know. */
async function migrate({ orm, dialect }: Storage, transaction?: Transaction): Promise<void> {
  const [first, ...later] = (dialect === "sqlite" ? sqliteMigrations : postgresqlMigrations).map(({ name }) => name);
  const known = new Set([first, ...later]);
  const [unknown] = (await orm.migrator.getExecuted()).map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new Error(
      unknown < String(first)
        ? `the database is from before the first release (${unknown}): commit ${lastBeforeRelease} is the last that reads it`
        : `the database was upgraded by a newer tollgate (${unknown}): start that version, or restore the backup from before the upgrade`,
    );
  }
  await orm.migrator.up(transaction === undefined ? {} : { transaction });
}

/** Cores that start at the same time migrate one after the other, each in one transaction, however long it pauses. */
async function migrateAlone(storage: PostgresqlStorage): Promise<void> {
  await storage.orm.em.fork().transactional(async (em) => {
    // A lock of the transaction: a pooler that keeps the session would keep a session's lock, too.
    await em.execute("set local idle_in_transaction_session_timeout = 0");
    await em.execute("select pg_advisory_xact_lock(hashtext('tollgate migrations'))");
    await migrate(storage, em.getTransactionContext());
  });
}

let opened = 0;

function common(dialect: string, migrationsList: typeof sqliteMigrations) {
  return {
    entities,
    // The ORM finds a transaction by this name. With one name for all, a read of a second database inside it would read
    // the first.
    contextName: `database ${++opened}`,
    extensions: [Migrator],
    // Every unit of work makes its own fork: a forgotten fork would share entities between requests.
    allowGlobalContext: false,
    forceUtcTimezone: true,
    // Triggers are written by hand in migrations: those of the audit log refuse changes to it.
    schemaGenerator: { ignoreTriggers: true },
    migrations: {
      migrationsList,
      path: `${import.meta.dirname}/migrations/${dialect}`,
      snapshotName: ".snapshot",
      snapshotOnMigrate: false,
      silent: true,
    },
  };
}
