import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Slice } from "#src/storage/entities/metering/slice.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";

/** The part of a lot that a core has leased. */
export type OpenSlice = Pick<Slice, "accountId" | "lotId" | "granted" | "spent">;

/**
 * Open slices by account or by lot. The indexes cover open slices alone. SQLite uses such an index only when the query
 * states `open` literally, not as a parameter; otherwise it reads all slices ever made.
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
    accountId: String(row.account_id),
    lotId: String(row.lot_id),
    granted: Number(row.granted),
    spent: Number(row.spent),
  }));
}
