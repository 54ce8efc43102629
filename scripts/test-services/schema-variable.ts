/** Names the SQLite file that has the schema and no row, for the processes that tests run in: see `schemas.ts`. It saves time alone. */
export const schemaVariable = "TEST_SCHEMA_FILE";
