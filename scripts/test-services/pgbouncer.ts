import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { findProgram } from "./install-package.ts";
import { listening } from "./listening.ts";

/** A PgBouncer that pools transactions. */
export interface Pooler {
  /** The URL of a database of the server that it stands before. */
  urlOf(databaseUrl: string): string;
  stop(): Promise<void>;
}

/**
 * Starts a PgBouncer before a server: one from the PATH, else one installed from the distribution's packages where that
 * needs no question. Few connections to the server, so that transactions of all clients share them.
 */
export async function startPooler(serverUrl: string): Promise<Pooler> {
  if (findProgram(["pgbouncer"], "--version", "pgbouncer") === undefined) {
    throw new Error(
      "this test needs PgBouncer: put pgbouncer on the PATH; tests that need none are run by their paths",
    );
  }
  const server = new URL(serverUrl);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "tollgate-pgbouncer-"));
  chmodSync(folder, 0o755);
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn("pgbouncer", [...user, settings], { stdio: "ignore" });
  await listening(pooler, port);
  return {
    urlOf(databaseUrl) {
      const url = new URL(databaseUrl);
      url.port = String(port);
      return url.href;
    },
    async stop() {
      const exited = once(pooler, "exit");
      if (pooler.exitCode === null && pooler.kill("SIGQUIT")) {
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
