import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "@jest/globals";
import { v7 } from "uuid";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { openStorage } from "../../src/storage/orm.ts";

/** The databases that tests run on. */
export const dialects = ["sqlite", "postgresql"] as const;

type Dialect = (typeof dialects)[number];

/** Makes a new database and returns its URL. */
type NewDatabase = (dialect: Dialect) => Promise<string>;

interface Makers {
  readonly empty: NewDatabase;
  /** A copy of one with the schema in it, which takes a third of the time that migrations take. */
  readonly migrated: NewDatabase;
}

/** Starts what the tests of a file need; the function makes a new database without a row. */
export function databases(): NewDatabase {
  return makers().migrated;
}

/** The same, without a schema either. */
export function emptyDatabases(): NewDatabase {
  return makers().empty;
}

function makers(): Makers {
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
  const newFile = () => join(directory, `${v7()}.db`);
  const empty: NewDatabase = async (dialect) =>
    dialect === "sqlite" ? `sqlite:${newFile()}` : await server.createDatabase();
  const schemas = new Map<Dialect, Promise<string>>();
  return {
    empty,
    async migrated(dialect) {
      const making = schemas.get(dialect) ?? makeSchema(await empty(dialect));
      schemas.set(dialect, making);
      const schema = await making;
      if (dialect === "postgresql") {
        return server.createDatabase(new URL(schema).pathname.slice(1));
      }
      const file = newFile();
      copyFileSync(schema.slice("sqlite:".length), file);
      return `sqlite:${file}`;
    },
  };
}

async function makeSchema(url: string): Promise<string> {
  await (await openStorage(url)).close();
  return url;
}
