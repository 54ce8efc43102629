import type { Event } from "#gen/tollgate/events/v1/events_service_pb.js";
import type { Delivery, Webhook } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { time } from "./documents.ts";

export function webhookDocument({ id, url, events, createdAt, pausedAt }: Webhook) {
  return { id, url, events, created_at: time(createdAt), paused_at: time(pausedAt) };
}

export function deliveryDocument(delivery: Delivery) {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    response_status: delivery.responseStatus ?? null,
    error: delivery.error === "" ? null : delivery.error,
    created_at: time(delivery.createdAt),
    next_attempt_at: time(delivery.nextAttemptAt),
    delivered_at: time(delivery.deliveredAt),
  };
}

export function eventDocument({ id, type, timestamp, accountId, data }: Event) {
  return {
    id,
    type,
    timestamp: time(timestamp),
    account_id: accountId === "" ? null : accountId,
    data: data ?? null,
  };
}
