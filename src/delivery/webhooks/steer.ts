import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import type { EventType } from "#src/storage/outbox/types.ts";

const testType: EventType = "webhook.test";
/** Tests wait for nothing: no account's events are in their lane. */
const testLane = "test";

/** The endpoints whose deliveries wait. */
export async function readPaused(em: SqlEntityManager): Promise<string[]> {
  const paused = await em.find(Webhook, { pausedAt: { $ne: null } }, { fields: ["id"] });
  return paused.map(({ id }) => id);
}

/** Stops deliveries to an endpoint. One that is paused stays so since then. Throws WEBHOOK_NOT_FOUND. */
export async function pause(em: SqlEntityManager, id: string, now: Date): Promise<Webhook> {
  const webhook = await lockWebhook(em, id);
  webhook.pausedAt ??= now;
  return webhook;
}

/** Goes on with deliveries, whose three days of attempts begin anew. Throws WEBHOOK_NOT_FOUND. */
export async function resume(em: SqlEntityManager, id: string, now: Date): Promise<Webhook> {
  const webhook = await lockWebhook(em, id);
  if (webhook.pausedAt !== null) {
    webhook.pausedAt = null;
    const first = { webhookId: id, status: "pending" as const, nextAt: { $ne: null } };
    await em.nativeUpdate(Delivery, first, { nextAt: now, firstAt: null, attempts: 0 });
  }
  return webhook;
}

/** Makes an event that one endpoint alone is told. Throws WEBHOOK_NOT_FOUND. */
export async function sendTest(em: SqlEntityManager, webhookId: string, random: Random, now: Date): Promise<Delivery> {
  await lockWebhook(em, webhookId);
  const eventId = random.uuid();
  const body = JSON.stringify({ type: testType, timestamp: now.toISOString(), data: { webhook_id: webhookId } });
  await em.insert(Event, { id: eventId, type: testType, accountId: null, body, at: now, spread: true });
  const delivery = em.create(Delivery, {
    id: random.uuid(),
    webhookId,
    eventId,
    type: testType,
    lane: testLane,
    at: now,
    status: "pending",
    attempts: 0,
    nextAt: now,
    firstAt: null,
    deliveredAt: null,
    responseStatus: null,
    error: "",
  });
  em.persist(delivery);
  return delivery;
}

/** Makes a delivery due at once, also one that is over. Throws WEBHOOK_NOT_FOUND, INVALID_ARGUMENT. */
export async function redeliver(em: SqlEntityManager, webhookId: string, id: string, now: Date): Promise<Delivery> {
  await lockWebhook(em, webhookId);
  const delivery = await em.findOne(Delivery, { id, webhookId });
  if (delivery === null) {
    throw invalid("delivery_id", "The endpoint has no such delivery.");
  }
  if (delivery.status === "pending" && delivery.nextAt === null) {
    throw invalid("delivery_id", "It waits for an earlier event of its account: send that one again.");
  }
  delivery.status = "pending";
  delivery.attempts = 0;
  delivery.nextAt = now;
  delivery.firstAt = null;
  delivery.deliveredAt = null;
  return delivery;
}

/** Locked, as the ends of deliveries are written under the same lock. */
async function lockWebhook(em: SqlEntityManager, id: string): Promise<Webhook> {
  const webhook = await em.findOne(Webhook, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (webhook === null) {
    throw noWebhook();
  }
  return webhook;
}

/** The error for an unknown id. */
export function noWebhook(): Error {
  return failure(Reason.WEBHOOK_NOT_FOUND, "There is no such webhook.", { parameter: "webhook_id" });
}
