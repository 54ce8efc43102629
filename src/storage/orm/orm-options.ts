import { Migrator } from "@mikro-orm/migrations";
import { entities } from "../entities/index.ts";
import type { migrations as sqliteMigrations } from "../migrations/sqlite/index.ts";

let opened = 0;

/** What both databases tell the ORM. */
export function ormOptions(dialect: string, migrationsList: typeof sqliteMigrations) {
  return {
    entities,
    // The ORM finds a transaction by this name. With one name for all, a read of a second database inside it would read
    // the first.
    contextName: `database ${++opened}`,
    extensions: [Migrator],
    // Every unit of work makes its own fork: a forgotten fork would share entities between requests.
    allowGlobalContext: false,
    forceUtcTimezone: true,
    // Triggers are written by hand in migrations: those of the audit log refuse changes to it.
    schemaGenerator: { ignoreTriggers: true },
    migrations: {
      migrationsList,
      path: `${import.meta.dirname}/../migrations/${dialect}`,
      snapshotName: ".snapshot",
      snapshotOnMigrate: false,
      silent: true,
    },
  };
}
