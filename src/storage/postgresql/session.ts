import type { Pool, PoolClient } from "pg";

/**
 * The settings of every session, whatever the server, the database and the role say: another value could lose
 * acknowledged charges, refuse requests or change how values read. Settings unknown to the server are left out.
 */
const settings: Readonly<Record<string, string>> = {
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  default_transaction_deferrable: "off",
  statement_timeout: "0", // the program itself limits how long it waits for an answer
  lock_timeout: "0",
  transaction_timeout: "0",
  idle_session_timeout: "0",
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  standard_conforming_strings: "on",
  bytea_output: "hex",
  extra_float_digits: "1",
  array_nulls: "on",
};

/** The statement that sets up a session. It keeps a synchronous_commit that is stronger than `on`. */
export function sessionSetup(idleInTransactionMs: number): string {
  const wanted = { ...settings, idle_in_transaction_session_timeout: String(idleInTransactionMs) };
  const values = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`);
  // First the setting that could end this very statement.
  return `
    set statement_timeout = 0;
    select set_config(pg_settings.name, wanted.value, false)
    from (values ${values.join(", ")}) wanted(name, value)
    join pg_catalog.pg_settings on lower(pg_settings.name) = lower(wanted.name)
    union all
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;
}

interface ServerState {
  readonly standby: boolean;
  readonly read_only: boolean;
  readonly schema: string | null;
  readonly database: string;
  readonly encoding: string;
  readonly pid: number;
  readonly isolation: string;
  readonly commit: string;
  readonly fsync: string;
  readonly full_page_writes: string;
}

/** The state of a server. */
export interface ServerCheck {
  /** Dangerous settings that work all the same, in words. */
  readonly findings: readonly string[];
  /** Whether a pooler stands before the server. */
  readonly pooled: boolean;
  /** The schema of the tables. */
  readonly schema: string;
}

/** Checks that a server can be trusted with money. Throws, in words, when it cannot be written to at all. */
export async function checkServer(pool: Pool): Promise<ServerCheck> {
  const client = await pool.connect();
  try {
    const direct = await readState(client, "setting");
    const { processID } = client as { processID?: number | null };
    const pooled = processID != null && processID !== direct.pid;
    // Behind a pooler only the settings that a session begins with are certain.
    const findings = judge(pooled ? await readState(client, "reset_val") : direct, pooled);
    return { findings, pooled, schema: String(direct.schema) };
  } finally {
    client.release();
  }
}

/** Reads the settings of this session, or those that its role begins a session with. */
async function readState(client: PoolClient, value: "setting" | "reset_val"): Promise<ServerState> {
  const setting = (name: string) => `(select ${value} from pg_catalog.pg_settings where name = '${name}')`;
  const { rows } = await client.query<ServerState>(`
    select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only,
      current_schema() as schema, current_database() as database, current_setting('server_encoding') as encoding,
      pg_backend_pid() as pid,
      ${setting("default_transaction_isolation")} as isolation,
      ${setting("synchronous_commit")} as commit, current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes`);
  return rows[0] as ServerState;
}

function judge(state: ServerState, pooled: boolean): string[] {
  if (state.standby) {
    throw new Error(
      "PostgreSQL: this server is a read-only standby: give the address of the primary in TOLLGATE_STORAGE_URL",
    );
  }
  if (state.read_only) {
    throw new Error("PostgreSQL: transactions are read-only: set default_transaction_read_only = off for the role");
  }
  if (state.schema === null) {
    throw new Error("PostgreSQL: the role's search_path names no schema that exists: create one, or set search_path");
  }
  if (state.encoding !== "UTF8") {
    throw new Error(`PostgreSQL: ${explainEncoding(state.database, state.encoding)}`);
  }
  const found: string[] = [];
  if (state.fsync === "off" || state.full_page_writes === "off") {
    found.push("PostgreSQL runs with fsync or full_page_writes off: a power cut may destroy the books");
  }
  if (state.commit === "off") {
    found.push(
      "synchronous_commit stays off in PostgreSQL's sessions: a crash loses acknowledged charges. alter role … set synchronous_commit = on",
    );
  }
  if (state.isolation !== "read committed") {
    found.push(
      `transactions are ${state.isolation}: alter role … set default_transaction_isolation = 'read committed'`,
    );
  }
  if (pooled) {
    found.push(
      "PostgreSQL is reached through a pooler: unless it pools sessions, cores hear each other only with storage.listen_url, and the role's settings must be as docs/deployment.md says",
    );
  }
  return found;
}

/** Explains what is wrong with a database whose encoding is not UTF8, and what to do. */
export function explainEncoding(database: string, encoding: string): string {
  const harm =
    encoding === "SQL_ASCII" ? "counts bytes where characters are meant" : "cannot store every character of a name";
  return `database ${database} has the encoding ${encoding}, which ${harm}: make another with create database NAME template template0 encoding 'UTF8' locale 'C', and give its address`;
}
