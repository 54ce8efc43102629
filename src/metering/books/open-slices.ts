import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Slice } from "../../storage/entities/metering/slice.ts";
import type { Row } from "../../storage/snapshot.ts";

/** What a core holds of a lot. */
export type OpenSlice = Pick<Slice, "accountId" | "lotId" | "granted" | "spent">;

/**
 * Open slices by what they are of. Their indexes are of open ones alone, which SQLite uses where the query says so word
 * for word, not by a parameter; else it reads the history of all slices.
 */
export async function findOpenSlices(
  em: SqlEntityManager,
  column: "account_id" | "lot_id",
  ids: readonly string[],
): Promise<OpenSlice[]> {
  if (ids.length === 0) {
    return [];
  }
  const rows = await em.execute<Row[]>(
    `select account_id, lot_id, granted, spent from slice where ${column} in (${ids.map(() => "?").join()}) and open`,
    [...ids],
  );
  return rows.map((row) => ({
    ...{ accountId: String(row.account_id), lotId: String(row.lot_id) },
    ...{ granted: Number(row.granted), spent: Number(row.spent) },
  }));
}
