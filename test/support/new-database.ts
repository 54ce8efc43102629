import { copyFile } from "node:fs/promises";
import { schemaVariable } from "../../scripts/test-services/schema-variable.ts";

/** Puts the run's file with the schema and no row where a service makes its database: migrations take a third of its start. */
export async function placeDatabase(file: string): Promise<void> {
  const schema = process.env[schemaVariable];
  if (schema !== undefined) {
    await copyFile(schema, file);
  }
}
