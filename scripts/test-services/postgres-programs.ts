import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackage } from "./install-package.ts";

/** The programs for a backup and its restore, all of one version. The package from npm has no clients. */
const needed = ["initdb", "postgres", "pg_dump", "pg_restore"];

/** Where Debian and its kin put each version's programs. */
const distribution = "/usr/lib/postgresql";

/**
 * The folder with a PostgreSQL's server and clients: TOLLGATE_TEST_POSTGRES_PROGRAMS, else one of the distribution's
 * or on the PATH, else it is installed from the distribution's packages where that needs no question.
 */
export function postgresPrograms(): string {
  const given = process.env.TOLLGATE_TEST_POSTGRES_PROGRAMS;
  if (given !== undefined) {
    return given;
  }
  let folder = installed();
  if (folder === undefined) {
    installPackage("postgresql");
    folder = installed();
  }
  if (folder !== undefined) {
    return folder;
  }
  console.error(
    `The tests need PostgreSQL's ${needed.join(", ")}: put them on the PATH, or name their folder in TOLLGATE_TEST_POSTGRES_PROGRAMS.`,
  );
  process.exit(1);
}

function installed(): string | undefined {
  const versions = existsSync(distribution) ? readdirSync(distribution).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(distribution, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => needed.every((program) => existsSync(join(folder, program))));
}
