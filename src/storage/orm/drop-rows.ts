import { setImmediate as endOfTurn } from "node:timers/promises";
import type { EntityName, FilterQuery } from "@mikro-orm/core";
import type { Storage } from "../storage.ts";
import { inTransaction } from "../transaction.ts";

/** Rows in one transaction: so few that on SQLite nothing waits for it, and on PostgreSQL no statement takes too long. */
const atOnce = 1000;

/** Removes rows, however many there are, some at a time. */
export async function dropRows<Row extends { readonly id: string }>(
  storage: Storage,
  entity: EntityName<Row>,
  where: FilterQuery<Row>,
): Promise<void> {
  for (let dropped = atOnce; dropped === atOnce; ) {
    dropped = await inTransaction(storage, async (em) => {
      const rows = await em.find(entity, where, { fields: ["id"] as never[], limit: atOnce, disableIdentityMap: true });
      await em.nativeDelete(entity, { id: { $in: rows.map(({ id }) => id) } } as unknown as FilterQuery<Row>);
      return rows.length;
    });
    await endOfTurn();
  }
}
