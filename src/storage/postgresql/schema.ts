import type { MikroORM } from "@mikro-orm/core";
import type { Pool } from "pg";

/** The one schema that the address of a server names among its settings. Undefined: the role's search_path decides. */
export function schemaOf(url: string): string | undefined {
  const options = url.includes("?") ? new URLSearchParams(url.slice(url.indexOf("?"))).get("options") : null;
  const named = [...(options ?? "").matchAll(/(?:^|\s)(?:-c\s*|--)search_path=(\S+)/g)].at(-1)?.[1];
  return named !== undefined && /^[a-z_]\w*$/i.test(named) ? named.toLowerCase() : undefined;
}

/**
 * Makes a schema unless the session has one. Cores that start at the same time make it one after the other.
 */
export async function makeSchema(pool: Pool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtext('tollgate migrations'))");
    const { rows } = await client.query("select current_schema() is null as missing");
    if (rows[0]?.missing) {
      await client.query(`create schema ${client.escapeIdentifier(schema)}`);
    }
    await client.query("commit");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Keeps the list of migrations in the session's schema, where the tables are: the ORM looks for it in `public`. */
export function listMigrationsIn(orm: MikroORM, schema: string): void {
  const migrations = orm.config.get("migrations");
  orm.config.set("migrations", { ...migrations, tableName: `${schema}.mikro_orm_migrations` });
}
