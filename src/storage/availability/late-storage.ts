import type { Pool } from "pg";
import { openStorage, prepareServer, type Storage } from "../orm.ts";

/** A database that could not be reached at the start. */
export interface LateStorage {
  /** Its calls fail, as when the server is away, until `letIn` succeeds. */
  readonly storage: Storage;
  /**
   * Makes the storage usable once the server is there, its schema is up to date and `judge` has found nothing wrong.
   * Until then it rejects with the reason.
   */
  letIn(judge: (storage: Storage) => Promise<void>): Promise<void>;
}

/** Prepares the connections to a PostgreSQL server that cannot be reached now. Warns as `openStorage`. */
export async function openLater(url: string, warn: (message: string) => void): Promise<LateStorage> {
  const { storage, beginLimit } = await prepareServer(url);
  const open = close(storage.pool);
  return {
    storage,
    async letIn(judge) {
      // Judged over other connections, so that nothing is read from or written to a database that may be another
      // service's, or of an older schema.
      const own = await openStorage(url, undefined, warn);
      try {
        await judge(own);
        Object.assign(storage, { pooled: own.dialect === "postgresql" && own.pooled });
      } finally {
        await own.close();
      }
      beginLimit();
      open();
    },
  };
}

/** Stops a pool from making connections. Returns the function that opens it. */
function close(pool: Pool): () => void {
  const { connect } = pool;
  const refuse = (callback?: (error: Error) => void) => {
    const error = Object.assign(new Error("the database has not been there since the start"), { code: "ECONNREFUSED" });
    if (callback === undefined) {
      return Promise.reject(error);
    }
    process.nextTick(callback, error);
    return undefined;
  };
  pool.connect = refuse as Pool["connect"];
  return () => {
    pool.connect = connect;
  };
}
