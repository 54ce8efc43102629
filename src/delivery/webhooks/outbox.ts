import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import { dropRows } from "#src/storage/orm/drop-rows.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type Backlog, readBacklog } from "../backlog.ts";
import { Batches, nextTurn } from "./batches.ts";
import { type Ended, giveUpOld, writeEnds } from "./ends.ts";
import type { Attempt } from "./send.ts";
import { readUnspread, type SpreadAlongside, spreadEvents } from "./spread.ts";
import { readPaused } from "./steer.ts";

/** The most transactions of a turn that make deliveries. The next turn makes the rest. */
const mostSteps = 50;
/** The most attempts whose ends are written in one transaction. */
const endsAtOnce = 16;
/** Deliveries of events that are too old, given up in one transaction. */
const givenUpAtOnce = 100;
/** The most deliveries that are counted: this is done each second. */
const mostCounted = 10_000;
/** Whether a delivery's endpoint is not paused. */
const isTold = "webhook_id not in (select id from webhook where paused_at is not null)";
/** How long events are kept. */
export const keepMs = 30 * 86_400_000;
/** Events of servers are kept for the public history. */
const longKept = ["server.down", "server.up"];
const longKeepMs = 90 * 86_400_000;

/** The stored deliveries to make. One core at a time works on them. */
export class Outbox {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  readonly #alongside: SpreadAlongside | undefined;
  /** Writes the ends of attempts together: on SQLite each transaction stops the event loop until it is on the disk. */
  readonly #ends: Batches<Ended, Delivery["status"] | undefined>;

  /** `alongside` absent: events have deliveries alone. */
  constructor(parts: { storage: Storage; clock: Pick<Clock, "now">; random: Random; alongside?: SpreadAlongside }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#alongside = parts.alongside;
    this.#ends = new Batches(endsAtOnce, (ended) => {
      const now = new Date(this.#clock.now());
      return inTransaction(this.#storage, (em) => writeEnds(em, ended, now));
    });
  }

  /** Makes the deliveries of events that have none yet. Returns the number of these events. */
  async spread(): Promise<number> {
    const parts = { random: this.#random, now: new Date(this.#clock.now()), alongside: this.#alongside };
    let count = 0;
    for (let step = 0; step < mostSteps; step++) {
      // Looks without a transaction, as this happens each second: on SQLite a transaction stops the event loop while
      // the ledger's thread commits.
      if ((await readUnspread(this.#storage.orm.em.fork(), 1)).length === 0) {
        break;
      }
      count += await inTransaction(this.#storage, (em) => spreadEvents(em, parts));
      await nextTurn();
    }
    return count;
  }

  /**
   * Deliveries that are to be tried now, the longest due first, without those of paused endpoints, of the given ones and
   * those under way.
   */
  async due(busyWebhooks: readonly string[], limit: number, underway: readonly string[] = []): Promise<Delivery[]> {
    const now = new Date(this.#clock.now());
    const em = this.#storage.orm.em.fork();
    const without = [...busyWebhooks, ...(await readPaused(em))];
    const others = {
      ...(without.length === 0 ? {} : { webhookId: { $nin: without } }),
      ...(underway.length === 0 ? {} : { id: { $nin: [...underway] } }),
    };
    const where = { status: "pending" as const, nextAt: { $lte: now }, ...others };
    return em.find(Delivery, where, { orderBy: { nextAt: "asc" }, limit });
  }

  /**
   * A delivery's endpoint and event. Undefined: the endpoint was deleted. Without an event: it is not kept any more, as where
   * somebody has it sent again while it is dropped.
   */
  async read({ webhookId, eventId }: Delivery): Promise<{ webhook: Webhook; event: Event | undefined } | undefined> {
    const em = this.#storage.orm.em.fork();
    const webhook = await em.findOne(Webhook, webhookId);
    const event = await em.findOne(Event, eventId);
    return webhook === null ? undefined : { webhook, event: event ?? undefined };
  }

  /**
   * Stores the outcome of an attempt. When the delivery is over, the next one of its lane becomes due. Returns the new
   * status. Undefined: the delivery is not pending any more.
   */
  finish(
    { id, webhookId }: Pick<Delivery, "id" | "webhookId">,
    startedAt: Date,
    attempt: Attempt,
  ): Promise<Delivery["status"] | undefined> {
    return this.#ends.add({ id, webhookId, startedAt, attempt });
  }

  /**
   * Deliveries that wait, at most `mostCounted`, and the oldest event among them. The first delivery of each lane is in the index of due ones. Those of paused endpoints wait on purpose.
   */
  backlog(): Promise<Backlog> {
    return readBacklog(
      this.#storage,
      this.#clock,
      `select count(*) as waiting, (
         select min(at) from (
           select at from delivery where status = 'pending' and next_at is not null and ${isTold}
           order by next_at limit ${mostCounted}) due) as oldest
       from (select 1 from delivery where status = 'pending' and ${isTold} limit ${mostCounted}) pending`,
    );
  }

  /**
   * Gives up deliveries of events that are too old, and drops these events with what is over of them. Returns how many deliveries
   * were given up: an endpoint that takes nothing keeps those that wait behind its first.
   */
  async purge(): Promise<number> {
    const now = new Date(this.#clock.now());
    const before = new Date(now.getTime() - keepMs);
    let givenUp = 0;
    for (let last = -1; last !== 0; givenUp += last) {
      last = await inTransaction(this.#storage, (em) => giveUpOld(em, before, now, givenUpAtOnce));
      await nextTurn();
    }
    await dropRows(this.#storage, Delivery, { at: { $lt: before }, status: { $ne: "pending" } });
    await dropRows(this.#storage, Event, { at: { $lt: before }, spread: true, type: { $nin: longKept } });
    await dropRows(this.#storage, Event, { at: { $lt: new Date(now.getTime() - longKeepMs) }, spread: true });
    return givenUp;
  }
}
