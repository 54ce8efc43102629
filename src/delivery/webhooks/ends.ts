import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Delivery, Webhook } from "#src/storage/entities/event.ts";
import { nextAttempt } from "./back-off.ts";
import type { Attempt } from "./send.ts";

/** An attempt that is over. */
export interface Ended {
  /** The delivery's id. */
  readonly id: string;
  readonly webhookId: string;
  readonly startedAt: Date;
  readonly attempt: Attempt;
}

/**
 * Writes how attempts ended. When the first delivery of a lane is over, the next one becomes due. Returns the new
 * status of each delivery; undefined: it is not pending any more.
 */
export async function writeEnds(
  em: SqlEntityManager,
  ended: readonly Ended[],
  now: Date,
): Promise<(Delivery["status"] | undefined)[]> {
  const webhookIds = [...new Set(ended.map(({ webhookId }) => webhookId))];
  await em.find(Webhook, { id: { $in: webhookIds } }, { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE });
  const ids = ended.map(({ id }) => id);
  const found = await em.find(Delivery, { id: { $in: ids }, status: "pending" });
  const deliveries = new Map(found.map((delivery) => [delivery.id, delivery]));
  const over: Delivery[] = [];
  const statuses = ended.map(({ id, startedAt, attempt }) => {
    const delivery = deliveries.get(id);
    if (delivery === undefined) {
      return undefined; // its endpoint was deleted meanwhile, or another core was faster
    }
    end(delivery, startedAt, attempt, now);
    if (delivery.status !== "pending") {
      over.push(delivery);
    }
    return delivery.status;
  });
  await em.flush();
  for (const delivery of over) {
    await releaseNext(em, delivery, now);
  }
  return statuses;
}

/**
 * Gives up the oldest deliveries of events from before a time, so many at most, and lets the next ones of their lanes go. Returns
 * how many.
 */
export async function giveUpOld(em: SqlEntityManager, before: Date, now: Date, limit: number): Promise<number> {
  await em.find(Webhook, {}, { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE });
  const order = { at: "asc", eventId: "asc" } as const;
  const old = await em.find(Delivery, { status: "pending", at: { $lt: before } }, { orderBy: order, limit });
  for (const delivery of old) {
    delivery.status = "failed";
    delivery.nextAt = null;
    delivery.error ||= "the endpoint took nothing before it";
  }
  await em.flush();
  const lanes = new Map(old.map((delivery) => [`${delivery.webhookId} ${delivery.lane}`, delivery]));
  for (const delivery of lanes.values()) {
    await releaseNext(em, delivery, now);
  }
  return old.length;
}

function end(delivery: Delivery, startedAt: Date, { ok, status, error }: Attempt, now: Date): void {
  delivery.attempts += 1;
  delivery.firstAt ??= startedAt;
  delivery.responseStatus = status ?? null;
  delivery.error = error;
  const nextAt = ok ? undefined : nextAttempt(delivery.attempts, delivery.firstAt, now);
  delivery.nextAt = nextAt ?? null;
  if (nextAt === undefined) {
    delivery.status = ok ? "delivered" : "failed";
    delivery.deliveredAt = ok ? now : null;
  }
}

async function releaseNext(em: SqlEntityManager, { webhookId, lane }: Delivery, now: Date): Promise<void> {
  const order = { at: "asc", eventId: "asc" } as const;
  const [next] = await em.find(Delivery, { webhookId, lane, status: "pending" }, { orderBy: order, limit: 1 });
  if (next !== undefined) {
    next.nextAt = now;
  }
}
