import type { Random } from "../../runtime/random.ts";
import type { Storage } from "../../storage/orm.ts";
import type { LedgerStore } from "./ledger-store.ts";
import { PostgresqlLedgerStore } from "./postgresql.ts";
import { SqliteLedgerStore } from "./sqlite.ts";

/** The ledger's statements for a database, on behalf of one core. */
export function createLedgerStore(storage: Storage, random: Random, coreId: string): LedgerStore {
  if (storage.dialect === "sqlite") return new SqliteLedgerStore(storage, random, coreId);
  return new PostgresqlLedgerStore(storage.pool, random, coreId);
}
