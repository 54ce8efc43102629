import type { Clock } from "#lib/time/clock.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { UsageEvent } from "#src/storage/entities/metering/usage-event.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type Backlog, readBacklog } from "../backlog.ts";

/** The most events that are counted. */
const mostCounted = 100_000;
/** Events dropped in one step. */
const mostDropped = 1000;

/** The stored receipts to send. */
export class UsageOutbox {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;

  constructor(parts: { storage: Storage; clock: Pick<Clock, "now"> }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
  }

  /** The oldest receipts that were not taken yet. */
  async next(limit: number): Promise<Usage[]> {
    const rows = await this.#storage.orm.em.fork().execute<Row[]>(
      `select usage.* from (select * from usage_event order by at, request_id, run_id limit ?) event
       join usage on usage.request_id = event.request_id and usage.run_id = event.run_id
       order by event.at, event.request_id, event.run_id`,
      [limit],
    );
    return rows.map((row) => readEntity(Usage, row));
  }

  /** Removes receipts that the receiver has taken. */
  async taken(receipts: readonly Usage[]): Promise<void> {
    const ids = receipts.map(({ requestId, runId }) => ({ requestId, runId }));
    await inTransaction(this.#storage, (em) => em.nativeDelete(UsageEvent, { $or: ids }));
  }

  /** Events that wait, at most `mostCounted`. */
  backlog(): Promise<Backlog> {
    return readBacklog(
      this.#storage,
      this.#clock,
      `select (select count(*) from (select 1 from usage_event limit ${mostCounted}) counted) as waiting,
           (select min(at) from usage_event) as oldest`,
    );
  }

  /** Drops the oldest events from before a time, some at a time. Returns how many. */
  drop(before: Date): Promise<number> {
    return inTransaction(this.#storage, async (em) => {
      const order = { at: "asc", requestId: "asc", runId: "asc" } as const;
      const old = await em.find(UsageEvent, { at: { $lt: before } }, { orderBy: order, limit: mostDropped });
      const last = old.at(-1);
      if (last !== undefined) {
        await em.nativeDelete(UsageEvent, { $or: old.map(({ requestId, runId }) => ({ requestId, runId })) });
      }
      return old.length;
    });
  }
}
