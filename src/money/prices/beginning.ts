import { PriceVersion } from "#src/storage/entities/metering/price.ts";
import type { Storage } from "#src/storage/storage.ts";

/** When the service began to serve: its first prices were published then. 0: not yet. */
export async function readBeginning(storage: Storage): Promise<number> {
  const [first] = await storage.orm.em.fork().find(PriceVersion, {}, { orderBy: { id: "asc" }, limit: 1 });
  return first?.publishedAt.getTime() ?? 0;
}
