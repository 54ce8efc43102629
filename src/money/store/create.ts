import { Pool } from "pg";
import type { Random } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { History } from "#src/storage/postgresql/history.ts";
import { primaryClient } from "#src/storage/postgresql/primary.ts";
import { serversOf } from "#src/storage/postgresql/servers.ts";
import type { ThreadLife } from "#src/storage/sqlite/database-thread.ts";
import type { Storage } from "#src/storage/storage.ts";
import { AnswerLimit } from "#src/storage/workarounds/answer-limit.ts";
import type { LedgerStore } from "../model/store/ledger.ts";
import { PostgresqlLedgerStore } from "./postgresql/store.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";
import { createThreadStore } from "./sqlite/thread.ts";

/** How a store works, beside its database. */
export interface StoreOptions extends ThreadLife {
  /**
   * The URL of PostgreSQL itself, behind a transaction pooler. Undefined: there is no pooler, or announcements are not
   * needed.
   */
  readonly listenUrl?: string | undefined;
  /** Whether each charge is also noted for the receiver of usage events, in its own transaction. Absent: it is not. */
  readonly usageEvents?: boolean;
  /** Called with a day, since 1970 in UTC, whose table was missing when a charge came, and is made. */
  readonly dayMissing?: ((day: number) => void) | undefined;
}

/** The longest that connecting to listen for other cores' announcements, or an answer there, may take. */
const connectMs = 10_000;

/**
 * The ledger's statements for a database, on behalf of one core. A thread that the store uses reports its end to
 * `options`.
 */
export function createLedgerStore(
  storage: Storage,
  random: Random,
  coreId: string,
  options: StoreOptions = { clock: systemClock, ended() {} },
): LedgerStore {
  if (storage.dialect === "postgresql") {
    const { pool, pooled, history } = storage;
    const { listenUrl } = options;
    const listening = listenUrl === undefined ? undefined : openListening(listenUrl);
    return new PostgresqlLedgerStore({ pool, pooled, listening, history }, random, coreId, options);
  }
  if (storage.files === undefined) {
    return new SqliteLedgerStore(storage.exclusive, random, coreId, options);
  }
  return createThreadStore(storage.path, storage.files, coreId, options);
}

function openListening(url: string): Pool {
  const servers = serversOf(url);
  const [connectionString] = servers;
  const pool = new Pool({
    connectionString,
    ...(servers.length > 1 && { Client: primaryClient(servers, new History(), connectMs) }),
    max: 1,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  });
  const limit = new AnswerLimit();
  limit.watch(pool);
  limit.begin(connectMs);
  pool.on("error", () => {}); // a server may yet say that it stops on a connection that was given back
  return pool;
}
