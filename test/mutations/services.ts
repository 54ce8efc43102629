import { startPostgres } from "../../scripts/test-services/postgres.ts";
import { postgresPrograms } from "../../scripts/test-services/postgres-programs.ts";
import { makeTemplate, templateVariable } from "../../scripts/test-services/postgres-template.ts";
import { addSchemas } from "../../scripts/test-services/schemas.ts";
import { makeTemporaryFolder } from "../../scripts/test-services/temporary-folder.ts";

/** Starts what tests of money need, as `npm test` does, and sets it in the environment. Returns the function that ends it. */
export async function startServices(): Promise<() => Promise<void>> {
  const temporary = await makeTemporaryFolder();
  process.env.TMPDIR = temporary.path;
  process.env.TOLLGATE_TEST_POSTGRES_PROGRAMS = postgresPrograms();
  const template = await addSchemas(await makeTemplate());
  process.env[templateVariable] = template.directory;
  const postgres = await startPostgres("fsync=off");
  process.env.TOLLGATE_TEST_POSTGRES_URL = postgres.url;
  return async () => {
    await postgres.stop();
    await template.remove();
    await temporary.remove();
  };
}
