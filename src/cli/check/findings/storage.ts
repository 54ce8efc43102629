import { access, constants, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { History } from "#src/storage/postgresql/history.ts";
import { primaryClient } from "#src/storage/postgresql/primary.ts";
import { schemaOf } from "#src/storage/postgresql/schema.ts";
import { serversOf } from "#src/storage/postgresql/servers.ts";
import { explainEncoding } from "#src/storage/postgresql/session.ts";
import { type Finding, patienceMs, toReason } from "../finding.ts";

/** Checks that the database can be used. Changes nothing. */
export async function checkStorage(url: string): Promise<Finding> {
  return url.startsWith("sqlite:") ? checkFile(url.slice("sqlite:".length)) : checkServer(url);
}

async function checkFile(path: string): Promise<Finding> {
  const part = "storage";
  if (path === ":memory:") {
    return { part, status: "warning", message: "in memory: everything is lost at the end" };
  }
  const exists = await stat(path).catch(() => undefined);
  try {
    if (!exists) {
      const directory = await nearestDirectory(dirname(resolve(path)));
      await access(directory, constants.W_OK);
      return { part, status: "ok", message: `${path} will be made` };
    }
    await access(path, constants.W_OK);
    const database = new DatabaseSync(path, { readOnly: true, timeout: patienceMs });
    const { tables } = database.prepare("select count(*) as tables from sqlite_schema").get() ?? {};
    database.close();
    return { part, status: "ok", message: `${path} is a database with ${tables} tables and indexes` };
  } catch (error) {
    const mend = "make it readable and writable, or name another with TOLLGATE_STORAGE_URL or storage.url";
    return { part, status: "wrong", message: `${path}: ${toReason(error)}: ${mend}` };
  }
}

/** The directory itself, or the nearest existing one in which it would be made. */
async function nearestDirectory(path: string): Promise<string> {
  const exists = await stat(path).catch(() => undefined);
  return exists || dirname(path) === path ? path : nearestDirectory(dirname(path));
}

async function checkServer(url: string): Promise<Finding> {
  const part = "storage";
  let client: Client;
  try {
    const servers = serversOf(url);
    const Driver = servers.length === 1 ? Client : primaryClient(servers, new History(), patienceMs);
    client = new Driver({
      connectionString: servers[0],
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
    });
  } catch (error) {
    const mend = "special characters of a password have to be percent-encoded, such as %40 for @";
    return { part, status: "wrong", message: `TOLLGATE_STORAGE_URL or storage.url: ${toReason(error)}: ${mend}` };
  }
  let where = `PostgreSQL at ${client.host}:${client.port}/${client.database}`;
  try {
    await client.connect();
    where = `PostgreSQL at ${client.host}:${client.port}/${client.database}`; // of several, the one that takes writes
    const { rows } = await client.query<ServerState>(
      `select current_setting('server_version') as version, current_schema() as schema,
        has_schema_privilege(current_schema(), 'create') as may,
        has_database_privilege(current_database(), 'create') as may_make_schema,
        current_database() as database, current_setting('server_encoding') as encoding`,
    );
    const [found] = rows;
    if (found !== undefined && found.encoding !== "UTF8") {
      return { part, status: "wrong", message: `${where}: ${explainEncoding(found.database, found.encoding)}` };
    }
    if (found?.schema === null) {
      return { part, ...judgeSchema(schemaOf(url), where, found) };
    }
    if (!found?.may) {
      const mend = `grant create on the schema to ${client.user}: the migrations make tables`;
      return { part, status: "wrong", message: `${where}: ${mend}` };
    }
    return { part, status: "ok", message: `${where}, version ${found.version}` };
  } catch (error) {
    const mend = "check that it runs, and TOLLGATE_STORAGE_URL or storage.url";
    return { part, status: "wrong", message: `${where}: ${toReason(error)}: ${mend}` };
  } finally {
    await client.end().catch(() => {});
  }
}

interface ServerState {
  readonly version: string;
  /** Null: there is none of the names in search_path. */
  readonly schema: string | null;
  readonly may: boolean | null;
  readonly may_make_schema: boolean;
  readonly database: string;
  readonly encoding: string;
}

/** Judges a schema that does not exist. Undefined: the role names it, and nobody told us to make it. */
function judgeSchema(schema: string | undefined, where: string, found: ServerState): Omit<Finding, "part"> {
  if (schema !== undefined && found.may_make_schema) {
    return { status: "ok", message: `${where}, version ${found.version}: the schema ${schema} will be made` };
  }
  const mend =
    schema === undefined
      ? "the role's search_path names no schema that exists: create one, or set search_path"
      : `the schema ${schema} does not exist, and the role may make none: create it for the role`;
  return { status: "wrong", message: `${where}: ${mend}` };
}
