import { dayMs } from "#lib/time/days.ts";
import type { Storage } from "#src/storage/storage.ts";

/** SQL for both databases: the first day, since 1970, whose receipts are all in the books. 0: all receipts are. */
export const keptFromDay = "(select coalesce(max(day) + 1, 0) from receipt_archive)";

/** The first moment whose receipts are all in the books, in milliseconds since the epoch. 0: all receipts are. */
export async function readKeptFrom(storage: Storage): Promise<number> {
  const [row] = await storage.orm.em.fork().execute<{ day: number }[]>(`select ${keptFromDay} as day`);
  return Number(row?.day ?? 0) * dayMs;
}
