import type { Clock } from "#lib/time/clock.ts";
import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Storage } from "#src/storage/storage.ts";

/** What waits to be sent. */
export interface Backlog {
  readonly waiting: number;
  /** The age of the oldest in milliseconds. */
  readonly oldestMs: number;
}

/** `sql`: selects a number as `waiting`, and as `oldest` a time or null. */
export async function readBacklog(storage: Storage, clock: Pick<Clock, "now">, sql: string): Promise<Backlog> {
  const [found] = await storage.orm.em.fork().execute<{ waiting: string; oldest: Date | string | null }[]>(sql);
  const at = found?.oldest ? readTime(found.oldest).getTime() : clock.now();
  return { waiting: Number(found?.waiting ?? 0), oldestMs: Math.max(0, clock.now() - at) };
}
