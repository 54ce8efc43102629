import type { DatabaseSync } from "node:sqlite";
import { Migrator } from "@mikro-orm/migrations";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { type AbstractSqlDriver, MikroORM, type SqlEntityManager, SqliteDriver } from "@mikro-orm/sql";
import type { Pool } from "pg";
import { entities } from "./entities/index.ts";
import { migrations as postgresqlMigrations } from "./migrations/postgresql/index.ts";
import { migrations as sqliteMigrations } from "./migrations/sqlite/index.ts";
import { limited, memorySnapshot, openPostgresqlSnapshot, openSqliteSnapshot, type Snapshot } from "./snapshot.ts";
import { lockFile, openSqlite, sqliteDialect } from "./sqlite.ts";

/** The longest that a connection to a server is waited for; one that says nothing would be waited for without end. */
const connectMs = 10_000;

/** The database: through the ORM, and bare for the statements that must be fast. */
export type Storage = SqliteStorage | PostgresqlStorage;

interface Common {
  readonly orm: MikroORM<AbstractSqlDriver, SqlEntityManager>;
  /** Opens a snapshot; the caller closes it. Waits while too many are open, since each costs a thread or a connection. */
  snapshot(): Promise<Snapshot>;
  /** Closes the connections and gives up the lock. */
  close(): Promise<void>;
}

/** One file, one process. */
export interface SqliteStorage extends Common {
  readonly dialect: "sqlite";
  /** ":memory:" for one that no other connection can open. */
  readonly path: string;
  /** Runs a function with the ORM's connection, while no transaction of the ORM is under way. */
  exclusive<T>(run: (database: DatabaseSync) => T): Promise<T>;
}

/** One server, many cores. */
export interface PostgresqlStorage extends Common {
  readonly dialect: "postgresql";
  readonly pool: Pool;
}

/**
 * Opens `sqlite:PATH`, `sqlite::memory:` or `postgresql://…` and brings its schema up to date.
 * Throws when another process has the SQLite file, or a newer version of the program made the schema.
 */
export async function openStorage(url: string): Promise<Storage> {
  const storage = url.startsWith("sqlite:") ? await openFile(url.slice("sqlite:".length)) : await openServer(url);
  try {
    await (storage.dialect === "sqlite" ? migrate(storage) : migrateAlone(storage));
  } catch (error) {
    await storage.close();
    throw error;
  }
  return storage;
}

async function openFile(path: string): Promise<SqliteStorage> {
  // Two cores on one file would each lend out the same money.
  const unlock = path === ":memory:" ? () => {} : lockFile(path);
  if (unlock === undefined)
    throw new Error(`${path} is in use by another tollgate process; several cores need PostgreSQL`);
  const database = openSqlite(path);
  const orm = await MikroORM.init({
    ...common("sqlite", sqliteMigrations),
    driver: SqliteDriver,
    dbName: path,
    driverOptions: sqliteDialect(database),
  });
  return {
    dialect: "sqlite",
    path,
    orm,
    snapshot: limited(async () => (path === ":memory:" ? memorySnapshot(database) : openSqliteSnapshot(path))),
    exclusive: (run) =>
      orm.em
        .getKysely()
        .connection()
        .execute(async () => run(database)),
    async close() {
      await orm.close();
      database.close();
      unlock();
    },
  };
}

async function openServer(url: string): Promise<PostgresqlStorage> {
  let pool: Pool | undefined;
  const orm = await MikroORM.init({
    ...common("postgresql", postgresqlMigrations),
    driver: PostgreSqlDriver,
    clientUrl: url,
    driverOptions: {
      connectionTimeoutMillis: connectMs,
      onPoolCreated: (created: Pool) => {
        pool = created;
      },
    },
  });
  await orm.connect();
  if (pool === undefined) throw new Error("the driver made no connection pool");
  const connections = pool;
  const snapshot = limited(() => openPostgresqlSnapshot(connections));
  return { dialect: "postgresql", orm, pool, snapshot, close: () => orm.close() };
}

/** Migrations run forward only: a program must not write money into a schema that it does not know. */
async function migrate({ orm, dialect }: Storage): Promise<void> {
  const known = new Set((dialect === "sqlite" ? sqliteMigrations : postgresqlMigrations).map(({ name }) => name));
  const newer = (await orm.migrator.getExecuted()).filter(({ name }) => !known.has(name));
  if (newer.length > 0) {
    throw new Error(
      `the database was upgraded by a newer tollgate (${newer[0]?.name}): start that version, or restore the backup from before the upgrade`,
    );
  }
  await orm.migrator.up();
}

/** Cores that start at the same time migrate one after the other. */
async function migrateAlone(storage: PostgresqlStorage): Promise<void> {
  const connection = await storage.pool.connect();
  try {
    await connection.query("select pg_advisory_lock(hashtext('tollgate migrations'))");
    await migrate(storage);
  } finally {
    connection.release(true); // ending the session gives up its lock, whatever happened
  }
}

function common(dialect: string, migrationsList: typeof sqliteMigrations) {
  return {
    entities,
    extensions: [Migrator],
    // Every unit of work makes its own fork; a forgotten one would share entities between requests.
    allowGlobalContext: false,
    forceUtcTimezone: true,
    migrations: {
      migrationsList,
      path: `${import.meta.dirname}/migrations/${dialect}`,
      snapshotName: ".snapshot",
      snapshotOnMigrate: false,
      silent: true,
    },
  };
}
