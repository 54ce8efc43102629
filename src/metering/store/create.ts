import type { Random } from "../../../lib/ids/random.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import type { Storage } from "../../storage/orm.ts";
import type { LedgerStore } from "./ledger-store.ts";
import { PostgresqlLedgerStore } from "./postgresql/store.ts";
import type { ThreadLife } from "./sqlite/ledger-thread.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";
import { SqliteThreadStore } from "./sqlite/thread.ts";

/** The ledger's statements for a database, on behalf of one core. Its thread, where it has one, tells of its end. */
export function createLedgerStore(
  storage: Storage,
  random: Random,
  coreId: string,
  life: ThreadLife = { clock: systemClock, ended() {} },
): LedgerStore {
  if (storage.dialect === "postgresql") {
    return new PostgresqlLedgerStore(storage.pool, random, coreId, storage.pooled);
  }
  if (storage.path === ":memory:") {
    return new SqliteLedgerStore(storage.exclusive, random, coreId);
  }
  return new SqliteThreadStore(storage.path, coreId, life);
}
