import type { SqlEntityManager } from "@mikro-orm/sql";
import { PriceVersion } from "#src/storage/entities/metering/price.ts";

/** The id of the newest price list, at which money comes in. */
export async function newestVersion(em: SqlEntityManager): Promise<number> {
  const [version] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
  if (version === undefined) {
    throw new Error("money cannot come in before there are prices");
  }
  return version.id;
}
