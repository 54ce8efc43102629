import type { Pool, PoolClient } from "pg";

/*
 * Wrong: a transaction that cannot begin, commit or be rolled back never gives its connection back to the pool, and a
 * pool whose connections are all out waits for them for ever.
 * Upstream: kysely 0.29.6 (`execute` of ControlledTransactionBuilder, `commit` and `rollback` of ControlledTransaction;
 * kysely-org/kysely#1990), which @mikro-orm/sql 7.2.1 makes transactions with; pg 8.23.0 counts a connection that ended
 * as taken.
 * Still needed while test/storage/workarounds/lost-connections.test.ts sees Kysely alone keep such a connection.
 * Delete when Kysely releases its connection however a transaction ends.
 */

/** Gives connections that end while they are taken back to their pool. */
export function releaseLostConnections(pool: Pool): void {
  const taken = new Set<PoolClient>();
  pool.on("acquire", (client: PoolClient) => taken.add(client));
  pool.on("release", (_, client) => taken.delete(client));
  pool.on("connect", (client: PoolClient) =>
    client.once("end", () => {
      if (!taken.has(client)) {
        return;
      }
      client.release(true);
      client.release = () => {}; // its taker may still release it, and a second release is an error
    }),
  );
}
