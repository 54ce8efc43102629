import type { Pool, PoolClient } from "pg";
import { type History, readPosition } from "./history.ts";

/** What was asked this long ago still holds. */
const freshMs = 1000;

/**
 * Has a process that reaches its server through a pooler ask, before it uses a connection, whose history answers: a
 * connection to a pooler outlives the server behind it, and may lead to an old primary that came back. What is written
 * there within a second of such a move is found missing, and made again, once the pooler leads to the new one.
 */
export function askBehindPooler(pool: Pool, history: History, answerMs: number): void {
  const connect: () => Promise<PoolClient> = pool.connect.bind(pool);
  let askedAt = Number.NEGATIVE_INFINITY;
  const take = async () => {
    const client = await connect();
    const now = performance.now();
    if (now - askedAt < freshMs) {
      return client;
    }
    try {
      history.follow(await readPosition(client, answerMs));
    } catch (error) {
      client.release(true);
      throw error;
    }
    askedAt = now;
    return client;
  };
  // The pool itself connects with a callback, all others await.
  pool.connect = ((callback?: (error?: unknown, client?: PoolClient, release?: PoolClient["release"]) => void) => {
    if (callback === undefined) {
      return take();
    }
    take().then(
      (client) => callback(undefined, client, client.release),
      (error: unknown) => callback(error),
    );
    return;
  }) as typeof pool.connect;
}
