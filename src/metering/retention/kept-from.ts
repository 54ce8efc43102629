import { ReceiptArchive } from "../../storage/entities/metering/archive.ts";
import type { Storage } from "../../storage/orm.ts";

/** A day in milliseconds. */
export const dayMs = 86_400_000;

/** SQL of both databases: the first day since 1970 whose receipts are all in the books; 0: those of all days are. */
export const keptFromDay = "(select coalesce(max(day) + 1, 0) from receipt_archive)";

/** The first moment, in milliseconds since the epoch, whose receipts are all in the books; 0: those of all times are. */
export async function readKeptFrom(storage: Storage): Promise<number> {
  const [row] = await storage.orm.em.fork().execute<{ day: number }[]>(`select ${keptFromDay} as day`);
  return Number(row?.day ?? 0) * dayMs;
}

/** The archive that receipts of a day went to; receipts are of the day of their settlement, which may be the next one. Null: none. */
export function findArchive(storage: Storage, day: number): Promise<ReceiptArchive | null> {
  return storage.orm.em.fork().findOne(ReceiptArchive, { day: { $gte: day } }, { orderBy: { day: "asc" } });
}
