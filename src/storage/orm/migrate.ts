import type { Transaction } from "@mikro-orm/core";
import { migrations as postgresqlMigrations } from "../migrations/postgresql/index.ts";
import { migrations as sqliteMigrations } from "../migrations/sqlite/index.ts";
import type { PostgresqlStorage, Storage } from "../storage.ts";

/** The last commit that reads databases from before the first release, whose migrations are gone. */
const lastBeforeRelease = "e5b30f13";

/** Migrations only run forward: a program must not write money into a schema that it does not know. */
export async function migrate({ orm, dialect }: Storage, transaction?: Transaction): Promise<void> {
  const known = (dialect === "sqlite" ? sqliteMigrations : postgresqlMigrations).map(({ name }) => name);
  const [baseline = ""] = known; // whoever has executed it has all that it stands for
  const executed = (await orm.migrator.getExecuted()).map(({ name }) => name);
  const unknown = executed.find((name) => (name < baseline ? !executed.includes(baseline) : !known.includes(name)));
  if (unknown !== undefined) {
    throw new Error(
      unknown < baseline
        ? `the database is from before the first release (${unknown}): commit ${lastBeforeRelease} is the last that reads it`
        : `the database was upgraded by a newer tollgate (${unknown}): start that version, or restore the backup from before the upgrade`,
    );
  }
  await orm.migrator.up(transaction === undefined ? {} : { transaction });
}

/** Cores that start at the same time migrate one after the other, each in one transaction, however long it pauses. */
export async function migrateAlone(storage: PostgresqlStorage): Promise<void> {
  await storage.orm.em.fork().transactional(async (em) => {
    // A lock of the transaction: a pooler that keeps the session would keep a session's lock, too.
    await em.execute("set local idle_in_transaction_session_timeout = 0");
    await em.execute("select pg_advisory_xact_lock(hashtext('tollgate migrations'))");
    await migrate(storage, em.getTransactionContext());
  });
}
