import type { SqlEntityManager } from "@mikro-orm/sql";
import { retryConflicts } from "./retry.ts";
import type { Storage } from "./storage.ts";

/**
 * Runs one transaction of the ORM, and runs it again, a few times at most, when the server ended it in favour of
 * another. The function must change nothing but the database, and may run more than once.
 */
export function inTransaction<T>(storage: Storage, run: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  return retryConflicts(() => storage.orm.em.fork().transactional((em) => run(em as SqlEntityManager)));
}
