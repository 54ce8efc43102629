import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "@jest/globals";
import { v7 } from "uuid";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { schemaDatabase, schemaFile, templateVariable } from "../../scripts/test-services/postgres-template.ts";

/** The databases that tests run on. */
export const dialects = ["sqlite", "postgresql"] as const;

export type Dialect = (typeof dialects)[number];

/** Makes a new database and returns its URL. */
type NewDatabase = (dialect: Dialect) => Promise<string>;

interface Makers {
  readonly empty: NewDatabase;
  /** A copy of one with the schema in it. */
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
  let server: DatabaseServer;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tollgate-metering-"));
    server = await useServer();
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
      const making = schemas.get(dialect) ?? findSchema(dialect, empty);
      schemas.set(dialect, making);
      const schema = await making;
      if (dialect === "postgresql") {
        return server.createDatabase(schema);
      }
      const file = newFile();
      copyFileSync(schema, file);
      return `sqlite:${file}`;
    },
  };
}

/** The name of the database, or the path of the file, that has the schema: the run's, else one that is made here. */
async function findSchema(dialect: Dialect, empty: NewDatabase): Promise<string> {
  const template = process.env[templateVariable];
  if (template !== undefined) {
    return dialect === "postgresql" ? schemaDatabase : schemaFile(template);
  }
  const url = await empty(dialect);
  await (await openStorage(url)).close();
  return dialect === "postgresql" ? new URL(url).pathname.slice(1) : url.slice("sqlite:".length);
}
