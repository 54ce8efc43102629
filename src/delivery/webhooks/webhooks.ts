import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Seal } from "#lib/ids/sealed.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { nextTurn } from "./batches.ts";
import { newWebhookSecret } from "./signature.ts";
import { noWebhook, pause, redeliver, resume, sendTest } from "./steer.ts";

const mostWebhooks = 100;
/** Deliveries removed in one transaction, with their endpoint. */
const removedAtOnce = 1000;

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly seal: Seal;
}

/** An endpoint with a new secret. */
export interface NewWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** The stored endpoints, their deliveries, and past events. Ids are UUIDs. */
export class Webhooks {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Throws INVALID_ARGUMENT when there are too many. */
  create(url: string, events: readonly string[]): Promise<NewWebhook> {
    const { storage, clock, random, seal } = this.#parts;
    const secret = newWebhookSecret(random);
    return inTransaction(storage, async (em) => {
      if ((await em.count(Webhook)) >= mostWebhooks) {
        throw failure(Reason.INVALID_ARGUMENT, `There may be ${mostWebhooks} webhooks at most: delete one first.`);
      }
      const webhook = em.create(Webhook, {
        id: random.uuid(),
        url,
        events: events.join(","),
        secret: seal.close(secret),
        previousSecret: null,
        previousUntil: null,
        createdAt: new Date(clock.now()),
        pausedAt: null,
      });
      em.persist(webhook);
      return { webhook, secret };
    });
  }

  /** Throws WEBHOOK_NOT_FOUND. */
  async get(id: string): Promise<Webhook> {
    return required(await this.#parts.storage.orm.em.fork().findOne(Webhook, id));
  }

  /** Oldest first: ids sort by age. */
  list({ after, limit }: PageStart): Promise<Webhook[]> {
    const where = after === undefined ? {} : { id: { $gt: after } };
    return this.#parts.storage.orm.em.fork().find(Webhook, where, { orderBy: { id: "asc" }, limit });
  }

  /** Makes another secret. The old one also signs for `overlapMs` milliseconds. Throws WEBHOOK_NOT_FOUND. */
  rotate(id: string, overlapMs: number): Promise<NewWebhook> {
    const { storage, clock, random, seal } = this.#parts;
    const secret = newWebhookSecret(random);
    return inTransaction(storage, async (em) => {
      const webhook = required(await em.findOne(Webhook, id, { lockMode: LockMode.PESSIMISTIC_WRITE }));
      webhook.previousSecret = overlapMs > 0 ? webhook.secret : null;
      webhook.previousUntil = overlapMs > 0 ? new Date(clock.now() + overlapMs) : null;
      webhook.secret = seal.close(secret);
      return { webhook, secret };
    });
  }

  /**
   * Removes an endpoint with its deliveries, some at a time. The newest go first: wherever it breaks off, each lane has its first
   * delivery, which the others wait for. Throws WEBHOOK_NOT_FOUND.
   */
  async delete(id: string): Promise<Webhook> {
    const { storage } = this.#parts;
    for (;;) {
      const removed = await inTransaction(storage, async (em) => {
        const webhook = required(await em.findOne(Webhook, id, { lockMode: LockMode.PESSIMISTIC_WRITE }));
        const orderBy = { at: "desc", eventId: "desc" } as const;
        const find = { orderBy, limit: removedAtOnce, fields: ["id"], disableIdentityMap: true } as const;
        const newest = await em.find(Delivery, { webhookId: id }, find);
        await em.nativeDelete(Delivery, { id: { $in: newest.map((delivery) => delivery.id) } });
        if (newest.length === removedAtOnce) {
          return undefined;
        }
        await em.nativeDelete(Webhook, { id });
        return webhook;
      });
      if (removed !== undefined) {
        return removed;
      }
      await nextTurn();
    }
  }

  /** Throws WEBHOOK_NOT_FOUND. */
  pause(id: string): Promise<Webhook> {
    return this.#steer((em, now) => pause(em, id, now));
  }

  /** Throws WEBHOOK_NOT_FOUND. */
  resume(id: string): Promise<Webhook> {
    return this.#steer((em, now) => resume(em, id, now));
  }

  /** Throws WEBHOOK_NOT_FOUND. */
  sendTest(id: string): Promise<Delivery> {
    return this.#steer((em, now) => sendTest(em, id, this.#parts.random, now));
  }

  /** Throws WEBHOOK_NOT_FOUND, INVALID_ARGUMENT. */
  redeliver(id: string, deliveryId: string): Promise<Delivery> {
    return this.#steer((em, now) => redeliver(em, id, deliveryId, now));
  }

  #steer<Changed>(change: (em: SqlEntityManager, now: Date) => Promise<Changed>): Promise<Changed> {
    const { storage, clock } = this.#parts;
    return inTransaction(storage, (em) => change(em, new Date(clock.now())));
  }

  /** Newest event first, after the event of a key. */
  deliveries(webhookId: string, { after, limit }: PageStart): Promise<Delivery[]> {
    const behind = after === undefined ? undefined : readEventKey(after);
    const where =
      behind === undefined
        ? []
        : [{ $or: [{ at: { $lt: behind.at } }, { at: behind.at, eventId: { $lt: behind.id } }] }];
    const orderBy = { at: "desc", eventId: "desc" } as const;
    return this.#parts.storage.orm.em.fork().find(Delivery, { $and: [{ webhookId }, ...where] }, { orderBy, limit });
  }

  /** Past events, newest first, after the event of a key. */
  events({ after, limit }: PageStart, types: readonly string[]): Promise<Event[]> {
    const behind = after === undefined ? undefined : readEventKey(after);
    const ofTypes = types.length === 0 ? {} : { type: { $in: [...types] } };
    const place =
      behind === undefined ? {} : { $or: [{ at: { $lt: behind.at } }, { at: behind.at, id: { $lt: behind.id } }] };
    const orderBy = { at: "desc", id: "desc" } as const;
    return this.#parts.storage.orm.em.fork().find(Event, { ...place, ...ofTypes }, { orderBy, limit });
  }
}

/** An event's key in a list. */
export function toEventKey(at: Date, id: string): string {
  return `${at.getTime()}_${id}`;
}

/** Undefined: the text is no key. */
export function readEventKey(key: string): { readonly at: Date; readonly id: string } | undefined {
  const [, ms, id] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(key) ?? [];
  return ms === undefined || id === undefined ? undefined : { at: new Date(Number(ms)), id };
}

function required(webhook: Webhook | null): Webhook {
  if (webhook === null) {
    throw noWebhook();
  }
  return webhook;
}
