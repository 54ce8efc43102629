import type { Pool } from "pg";

/*
 * Wrong: a caller that waits for a new connection while the database is closed gets an error when the connection comes,
 * and the connection is never given back: the pool waits for it for ever.
 * Upstream: kysely 0.29.6 (`acquireConnection` and `destroy` of PostgresDriver): it forgets its pool before that has
 * ended.
 * Still needed while test/storage/workarounds/ending-pool.test.ts sees Kysely alone keep such a connection.
 * Delete when Kysely gives connections back that come while it is destroyed.
 */

/**
 * Ends a pool, then the objects made on top of it, which may end it again. Resolves when every connection was given
 * back.
 */
export async function endPool(pool: Pool, close: () => Promise<void>): Promise<void> {
  const ended = pool.end();
  pool.end = () => ended;
  await ended;
  await close();
}
