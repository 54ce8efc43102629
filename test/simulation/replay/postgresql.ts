import type { Pool, PoolClient } from "pg";
import type { Recorded, RecordedRow, RecordedStatement } from "./recording.ts";

/** Repeats on a real PostgreSQL what was done on a simulated one. Returns the differences of the results, in words. */
export async function replay(recorded: readonly Recorded[], pool: Pool): Promise<string[]> {
  const client = await pool.connect();
  const differences: string[] = [];
  try {
    const types = await readTypes(client);
    for (const [at, step] of recorded.entries()) {
      if (step.kind === "row") {
        await copyRow(client, step, types);
      } else if (step.kind !== "statement") {
        await client.query(step.kind);
      } else {
        const difference = await compareStatement(client, step, recorded, at);
        differences.push(...(difference === undefined ? [] : [difference]));
      }
      if (differences.length >= 5) {
        break;
      }
    }
  } finally {
    client.release(true);
  }
  return differences;
}

async function compareStatement(
  client: PoolClient,
  { name, text, values, rows, state }: RecordedStatement,
  recorded: readonly Recorded[],
  at: number,
): Promise<string | undefined> {
  let found: readonly object[] = [];
  let failed: string | undefined;
  try {
    found = (await client.query(text, [...values])).rows as object[];
  } catch (error) {
    failed = String((error as { code?: unknown }).code);
    await client.query("rollback");
  }
  const expected = canonical(rows, found);
  const real = canonical(found, found);
  if (failed !== state || expected !== real) {
    const told = JSON.stringify(values).slice(0, 300);
    return `${at} of ${recorded.length}: "${name}" of ${told}: simulated ${state ?? expected}, PostgreSQL ${failed ?? real}`;
  }
  return undefined;
}

/** Rows in a canonical form: equal rows are the same text, with the real server's columns, in any order. */
function canonical(rows: readonly object[], real: readonly object[]): string {
  const names = Object.keys(real[0] ?? rows[0] ?? {})
    .filter((name) => name !== "set_config") // a setting for the statement itself, which nobody reads
    .sort();
  const texts = rows.map((row) =>
    names.map((name) => `${name}=${toText((row as Record<string, unknown>)[name])}`).join(),
  );
  return texts.sort().join("\n");
}

function toText(value: unknown): string {
  if (value instanceof Date) {
    return String(value.getTime());
  }
  if (Array.isArray(value)) {
    return `[${value.map(toText).sort().join("; ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, part]) => `${name}: ${toText(part)}`).join()}}`;
  }
  return String(value);
}

type Types = ReadonlyMap<string, string>;

async function readTypes(client: PoolClient): Promise<Types> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select table_name || ' ' || column_name as name, data_type as type from information_schema.columns
     where table_schema = current_schema()`,
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

function toPostgresql(value: unknown, type: string | undefined): unknown {
  if (value === null) {
    return null;
  }
  if (type?.startsWith("timestamp") || type === "date") {
    return new Date(Number(value));
  }
  return type === "boolean" ? value === 1 || value === 1n : value;
}

/** Copies a row as it is: the ORM's own work is not compared. */
async function copyRow(client: PoolClient, { table, key, row }: RecordedRow, types: Types): Promise<void> {
  const values = (of: Readonly<Record<string, unknown>>) =>
    Object.entries(of).map(([name, value]) => toPostgresql(value, types.get(`${table} ${name}`)));
  const list = (of: Readonly<Record<string, unknown>>) => Object.keys(of).map((name) => `"${name}"`);
  await client.query("begin");
  await client.query("set local session_replication_role = replica"); // parents may come after their children
  const where = list(key).map((name, at) => `${name} = $${at + 1}`);
  await client.query(`delete from "${table}" where ${where.join(" and ")}`, values(key));
  if (row !== undefined) {
    const marks = list(row).map((_, at) => `$${at + 1}`);
    await client.query(`insert into "${table}" (${list(row).join()}) values (${marks.join()})`, values(row));
  }
  await client.query("commit");
}

/** Tables that the ledger's statements write, with the columns that depend on the server's own clock. */
const compared: Readonly<Record<string, readonly string[]>> = {
  ...{ account: [], lot: [], slice: [], budget: [], budget_slice: [], core: ["heartbeat_at"] },
  ...{ usage: [], usage_line: [], usage_tally: [], usage_rollup: [], usage_span: [] },
};

/** The differences between the tables of the two servers, in words. */
export async function compareTables(read: (sql: string) => readonly object[], pool: Pool): Promise<string[]> {
  const differences: string[] = [];
  for (const [table, ownTime] of Object.entries(compared)) {
    const toTexts = (rows: readonly object[]) =>
      rows.map((row) =>
        toText(
          Object.fromEntries(
            Object.entries(row)
              .filter(([name]) => !ownTime.includes(name))
              .map(toComparable),
          ),
        ),
      );
    const real = toTexts((await pool.query<object>(`select * from "${table}"`)).rows);
    const simulated = toTexts(read(`select * from "${table}"`));
    const missing = simulated.filter((row) => !new Set(real).has(row));
    const more = real.filter((row) => !new Set(simulated).has(row));
    if (missing.length + more.length > 0 || real.length !== simulated.length) {
      differences.push(`${table}: simulated ${missing[0]}, PostgreSQL ${more[0]}`);
    }
  }
  return differences;
}

/** Converts a value for comparison. Booleans and times are numbers in SQLite; the driver leaves times as text. */
function toComparable([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  if (typeof value === "boolean") {
    return [name, Number(value)];
  }
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\d [\d:.]+\+00$/.test(value);
  return [name, isTime ? Date.parse(value.replace(" ", "T").replace("+00", "Z")) : value];
}
