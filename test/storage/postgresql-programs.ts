import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../scripts/test-services/free-port.ts";
import { postgresPrograms } from "../../scripts/test-services/postgres-programs.ts";
import { eventually } from "../support/eventually.ts";

/** A PostgreSQL server with its own version's clients beside it, as operators have. */
export interface PostgresqlInstallation extends AsyncDisposable {
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs a client, such as pg_dump. Rejects when it fails. */
  run(program: string, ...args: string[]): Promise<void>;
}

/** Starts a server of the distribution's PostgreSQL on a free port. */
export async function startInstallation(): Promise<PostgresqlInstallation> {
  const folder = postgresPrograms();
  const data = await mkdtemp(join(tmpdir(), "tollgate-postgresql-"));
  const user = await userOf(data);
  const port = await freePort();
  const init = ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync", "--locale", "C"];
  await promisify(execFile)(join(folder, "initdb"), [...init, "--encoding", "UTF8"], user);
  const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${data}`, "fsync=off"];
  const flags = settings.flatMap((setting) => ["-c", setting]);
  const server = spawn(join(folder, "postgres"), ["-D", data, "-p", String(port), ...flags], {
    ...user,
    stdio: "ignore",
  });
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  const admin = await connected(() => new pg.Client(url("postgres")));
  return {
    async createDatabase(name) {
      await admin.query(`create database ${name}`);
      return url(name);
    },
    async run(program, ...args) {
      await promisify(execFile)(join(folder, program), args);
    },
    async [Symbol.asyncDispose]() {
      await admin.end();
      server.kill("SIGINT"); // ends sessions, too
      await once(server, "exit");
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root; its package has brought a user. */
async function userOf(data: string): Promise<{ uid?: number; gid?: number; cwd: string }> {
  if (process.getuid?.() !== 0) {
    return { cwd: data };
  }
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  const [uid, gid] = [id("-u"), id("-g")];
  await chown(data, uid, gid);
  return { uid, gid, cwd: data };
}

async function connected(make: () => pg.Client): Promise<pg.Client> {
  const client = await eventually("PostgreSQL takes connections", async () => {
    const attempt = make();
    return attempt.connect().then(
      () => attempt,
      () => undefined,
    );
  });
  return client as pg.Client;
}
