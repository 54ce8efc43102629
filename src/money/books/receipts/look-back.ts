import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Conditions } from "./conditions.ts";

/**
 * The rows of a table that an answer looks at where a filter is no index's. The answers that follow look further back: each of
 * them costs the same, however many rows there are and however few match.
 */
export const mostLooked = 50_000;

/** What is looked through: a table, the column that orders it by time, and the conditions that an index knows. */
export interface Looked {
  readonly table: string;
  readonly time: string;
  readonly known: Conditions;
}

/**
 * How far back an answer looks, newest first: in milliseconds since the epoch, the time of the row behind its share. Undefined:
 * there are no more than that.
 */
export async function findFloor(
  snapshot: Pick<Snapshot, "few">,
  { table, time, known }: Looked,
  share: number,
): Promise<number | undefined> {
  const sql = `select ${time} as floor from ${table} ${known.where} order by ${time} desc limit 1 offset ${share}`;
  const [row] = await snapshot.few(sql, known.parameters);
  return row && (typeof row.floor === "number" ? row.floor : readTime(row.floor).getTime());
}
