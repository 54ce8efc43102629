import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "../../lib/ids/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { Delivery, Event, Webhook } from "../storage/entities/event.ts";
import type { Storage } from "../storage/orm.ts";
import { readTime } from "../storage/read-entity.ts";
import { inTransaction } from "../storage/transaction.ts";
import { nextAttempt } from "./back-off.ts";
import type { Attempt } from "./send.ts";

/** Events that become deliveries at once. */
const eventsAtOnce = 200;
/** The most deliveries that are counted: this is done each second. */
const mostCounted = 10_000;
/** How long events are kept. */
export const keepMs = 30 * 86_400_000;

/** The deliveries that there are to make, as they are stored. One core at a time works on them. */
export class Outbox {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  readonly #copyEndpoints: () => Promise<boolean>;

  /** copyEndpoints: brings the endpoints up to date, where they are copies; false: it cannot now. Absent: they are no copies. */
  constructor(parts: {
    storage: Storage;
    clock: Pick<Clock, "now">;
    random: Random;
    copyEndpoints?: () => Promise<boolean>;
  }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#copyEndpoints = parts.copyEndpoints ?? (async () => true);
  }

  /**
   * Makes the deliveries of events that have none yet. Returns how many events there were; 0 too while it cannot be known which
   * endpoints there are.
   */
  async spread(): Promise<number> {
    if (!(await this.#copyEndpoints())) {
      return 0;
    }
    // Asked each second, and on SQLite a transaction stops the event loop while the ledger's thread commits.
    if ((await this.#storage.orm.em.fork().findOne(Event, { spread: false }, { fields: ["id"] })) === null) {
      return 0;
    }
    return inTransaction(this.#storage, async (em) => {
      const order = { at: "asc", id: "asc" } as const;
      const events = await em.find(Event, { spread: false }, { orderBy: order, limit: eventsAtOnce });
      if (events.length === 0) {
        return 0;
      }
      // A delivery that ends meanwhile would not see those that wait for it.
      const webhooks = await em.find(Webhook, {}, { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE });
      const busy = new Set<string>();
      for (const event of events) {
        for (const webhook of webhooks.filter((one) => isTold(one, event))) {
          await this.#add(em, event, webhook, busy);
        }
      }
      await em.nativeUpdate(Event, { id: { $in: events.map(({ id }) => id) } }, { spread: true });
      return events.length;
    });
  }

  async #add(em: SqlEntityManager, event: Event, { id: webhookId }: Webhook, busy: Set<string>): Promise<void> {
    const lane = event.accountId ?? "";
    const place = `${webhookId} ${lane}`;
    const waits = busy.has(place) || (await em.count(Delivery, { webhookId, lane, status: "pending" })) > 0;
    busy.add(place);
    await em.insert(Delivery, {
      ...{ id: this.#random.uuid(), webhookId, eventId: event.id, type: event.type, lane, at: event.at },
      ...{ status: "pending", attempts: 0, nextAt: waits ? null : new Date(this.#clock.now()) },
      ...{ firstAt: null, deliveredAt: null, responseStatus: null, error: "" },
    });
  }

  /** Deliveries that are to be tried now, those of some endpoints apart, the longest due first. */
  due(busyWebhooks: readonly string[], limit: number): Promise<Delivery[]> {
    const now = new Date(this.#clock.now());
    const others = busyWebhooks.length === 0 ? {} : { webhookId: { $nin: [...busyWebhooks] } };
    const where = { status: "pending" as const, nextAt: { $lte: now }, ...others };
    return this.#storage.orm.em.fork().find(Delivery, where, { orderBy: { nextAt: "asc" }, limit });
  }

  /** A delivery's event and endpoint. Undefined: the endpoint was deleted. */
  async read({ webhookId, eventId }: Delivery): Promise<{ webhook: Webhook; event: Event } | undefined> {
    const em = this.#storage.orm.em.fork();
    const webhook = await em.findOne(Webhook, webhookId);
    const event = await em.findOne(Event, eventId);
    return webhook === null || event === null ? undefined : { webhook, event };
  }

  /** Writes how an attempt ended, and lets the next one of the lane go when this one is over. Returns how it stands. */
  finish(
    { id, webhookId }: Pick<Delivery, "id" | "webhookId">,
    startedAt: Date,
    { ok, status, error }: Attempt,
  ): Promise<Delivery["status"] | undefined> {
    const now = new Date(this.#clock.now());
    return inTransaction(this.#storage, async (em) => {
      await em.findOne(Webhook, webhookId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      const delivery = await em.findOne(Delivery, { id, status: "pending" });
      if (delivery === null) {
        return undefined; // its endpoint was deleted meanwhile, or another core was faster
      }
      delivery.attempts += 1;
      delivery.firstAt ??= startedAt;
      delivery.responseStatus = status ?? null;
      delivery.error = error;
      const nextAt = ok ? undefined : nextAttempt(delivery.attempts, delivery.firstAt, now);
      delivery.nextAt = nextAt ?? null;
      if (nextAt === undefined) {
        delivery.status = ok ? "delivered" : "failed";
        delivery.deliveredAt = ok ? now : null;
        await em.flush();
        await releaseNext(em, delivery, now);
      }
      return delivery.status;
    });
  }

  /**
   * Deliveries that wait, at most `mostCounted`, and how old the oldest event is among them, in milliseconds. Each lane's first one
   * is in the index of those that are due.
   */
  async backlog(): Promise<{ readonly waiting: number; readonly oldestMs: number }> {
    const [found] = await this.#storage.orm.em.fork().execute<{ waiting: string; oldest: Date | string | null }[]>(
      `select count(*) as waiting, (
         select min(at) from (
           select at from delivery where status = 'pending' and next_at is not null order by next_at limit ${mostCounted}) due) as oldest
       from (select 1 from delivery where status = 'pending' limit ${mostCounted}) pending`,
    );
    const oldest = found?.oldest ?? undefined;
    const at = oldest === undefined ? undefined : readTime(oldest).getTime();
    return {
      waiting: Number(found?.waiting ?? 0),
      oldestMs: at === undefined ? 0 : Math.max(0, this.#clock.now() - at),
    };
  }

  /** Drops events that are too old, with their deliveries that are over. */
  async purge(): Promise<void> {
    const old = { at: { $lt: new Date(this.#clock.now() - keepMs) } };
    await inTransaction(this.#storage, async (em) => {
      await em.nativeDelete(Delivery, { ...old, status: { $ne: "pending" } });
      const needed = (await em.find(Delivery, { ...old, status: "pending" }, { fields: ["eventId"] })).map(
        ({ eventId }) => eventId,
      );
      await em.nativeDelete(Event, { ...old, spread: true, id: { $nin: needed } });
    });
  }
}

/** Whether an endpoint is told of an event: it asked for the type, before the event happened. */
function isTold({ events, createdAt }: Webhook, { type, at }: Event): boolean {
  return createdAt <= at && events.split(",").includes(type);
}

async function releaseNext(em: SqlEntityManager, { webhookId, lane }: Delivery, now: Date): Promise<void> {
  const order = { at: "asc", eventId: "asc" } as const;
  const [next] = await em.find(Delivery, { webhookId, lane, status: "pending" }, { orderBy: order, limit: 1 });
  if (next !== undefined) {
    next.nextAt = now;
  }
}
