import type { Pool, PoolClient, QueryResult } from "pg";

/*
 * Wrong: a statement's parameters and answer stay in memory until the next full collection when its promise or its
 * `query_timeout` gives it a callback after it was made: V8 (14.6) keeps young objects that got a closure over
 * themselves that way. Every statement and each of its rows is then copied twice, and a collection of the young space
 * takes ten milliseconds.
 * Upstream: pg 8.23.0 (`Client.query` assigns `query.callback`).
 * Still needed while test/storage/workarounds/kept-answers.test.ts sees pg alone keep them.
 * Delete when pg or V8 lets go of them.
 */

type Answered = (error: Error | null, result: QueryResult) => void;

/**
 * Creates the statements of a pool's connections with their callbacks, so that each is forgotten once it is answered.
 */
export function forgetAnswers(pool: Pool): void {
  pool.on("connect", (client: PoolClient) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]) => {
      if (hasCallback(parameters)) {
        return query(...parameters);
      }
      const [statement, values] = parameters;
      const own = typeof statement === "object" ? statement && { ...statement } : statement; // pg writes the callback into it
      return new Promise<QueryResult>((resolve, reject) => {
        const answered: Answered = (error, result) => (error ? reject(error) : resolve(result));
        query(own, values, answered);
      });
    }) as typeof client.query;
  });
}

/** Whether a statement has its own callback. A cursor submits itself. */
function hasCallback(parameters: readonly unknown[]): boolean {
  const [statement] = parameters as [{ readonly submit?: unknown; readonly callback?: unknown } | null];
  const isOwn = typeof statement?.submit === "function" || typeof statement?.callback === "function";
  return isOwn || parameters.some((parameter) => typeof parameter === "function");
}
