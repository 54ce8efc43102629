import type { Pool, PoolClient } from "pg";

/**
 * Gives connections that end while somebody has them back to their pool. Whoever has one may never do so: Kysely
 * does not after a transaction that it could not begin or roll back, and a pool whose connections are all out
 * waits for them for ever.
 */
export function releaseLostConnections(pool: Pool): void {
  const taken = new Set<PoolClient>();
  pool.on("acquire", (client: PoolClient) => taken.add(client));
  pool.on("release", (_, client) => taken.delete(client));
  pool.on("connect", (client: PoolClient) =>
    client.once("end", () => {
      if (!taken.has(client)) return;
      client.release(true);
      client.release = () => {}; // who has it may still do so, and a second time is an error
    }),
  );
}
