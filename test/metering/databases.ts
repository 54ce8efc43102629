import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "@jest/globals";
import { v7 } from "uuid";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";

/** The databases that tests run on. */
export const dialects = ["sqlite", "postgresql"] as const;

/** Starts what the tests of a file need; the function makes a new empty database and returns its URL. */
export function databases(): (dialect: (typeof dialects)[number]) => Promise<string> {
  let server: PostgresqlServer;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tollgate-metering-"));
    server = await startPostgresql();
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);
  return async (dialect) =>
    dialect === "sqlite" ? `sqlite:${join(directory, `${v7()}.db`)}` : await server.createDatabase();
}
