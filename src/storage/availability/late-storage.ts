import type { Pool } from "pg";
import { openStorage, prepareServer, type Storage } from "../orm.ts";

/** A database that is not there yet. */
export interface LateStorage {
  /** Whatever asks it fails, as when the server is away, until it is let in. */
  readonly storage: Storage;
  /**
   * Lets everybody in once the server is there, its schema is up to date and `judge` has found nothing wrong with it. Rejects
   * until then, with what was wrong.
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
      // Judged over connections of its own, so that nobody reads or writes what may be another service's, or an older schema.
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

/** Has a pool make no connection. Returns the function that opens it. */
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
