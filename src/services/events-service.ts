import type { JsonObject } from "@bufbuild/protobuf";
import { durationMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhookSchema, type WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { invalid } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import { dayMs } from "#lib/time/days.ts";
import { parseDestination } from "#src/delivery/webhooks/destination.ts";
import { noWebhook } from "#src/delivery/webhooks/steer.ts";
import { readEventKey, toEventKey, type Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import type { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import { eventTypes, isEventType } from "#src/storage/outbox/types.ts";
import { readTokenHolder } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";

const longestOverlapMs = 30 * dayMs;
const isKey = (key: string) => readEventKey(key) !== undefined;

/** Lists past events and their types. */
export function createEventsService(webhooks: Pick<Webhooks, "events">): ServiceImpl<typeof EventsService> {
  return {
    async listEvents(request) {
      const key = ({ at, id }: Event) => toEventKey(at, id);
      const unknown = request.types.find((type) => !isEventType(type));
      if (unknown !== undefined) {
        throw invalid("types", `${unknown} is none of these types: ${Object.keys(eventTypes).join(", ")}.`);
      }
      const list = `events ${[...request.types].sort().join(" ")}`.trim();
      const page = await readPage(list, request, (start) => webhooks.events(start, request.types), key, isKey);
      return { events: page.entries.map(eventMessage), nextPageToken: page.nextPageToken };
    },

    listEventTypes: () => ({
      eventTypes: Object.entries(eventTypes).map(([type, description]) => ({ type, description })),
    }),
  };
}

/** Manages endpoints and lists their deliveries. `allow` names private networks that may be reached. */
export function createWebhooksService(
  webhooks: Webhooks,
  allow: readonly string[],
): ServiceImpl<typeof WebhooksService> {
  return {
    async createWebhook({ url, events }, context) {
      readTokenHolder(context);
      const destination = parseDestination(url, allow);
      if (typeof destination === "string") {
        throw invalid("url", destination);
      }
      const types = [...new Set(events)];
      const unknown = types.find((type) => !isEventType(type));
      if (types.length === 0 || unknown !== undefined) {
        const types = Object.keys(eventTypes).join(", ");
        throw invalid("events", `${unknown ?? "events"} must be of these types, at least one: ${types}.`);
      }
      const { webhook, secret } = await webhooks.create(destination.url.href, types);
      return { webhook: webhookMessage(webhook), secret };
    },

    async listWebhooks(request) {
      const read = readPage(
        "webhooks",
        request,
        (start) => webhooks.list(start),
        ({ id }) => id,
        isUuid,
      );
      const { entries, nextPageToken } = await read;
      return { webhooks: entries.map(webhookMessage), nextPageToken };
    },

    async rotateWebhookSecret({ webhookId, overlap }, context) {
      readTokenHolder(context);
      const overlapMs = overlap ? durationMs(overlap) : dayMs;
      if (!(overlapMs >= 0 && overlapMs <= longestOverlapMs)) {
        throw invalid("overlap", "An overlap must be from 0 to 30 days.");
      }
      const id = requireId(webhookId);
      noteBefore(context, WebhookSchema, webhookMessage(await webhooks.get(id)));
      const { webhook, secret } = await webhooks.rotate(id, overlapMs);
      return { webhook: webhookMessage(webhook), secret };
    },

    async deleteWebhook({ webhookId }, context) {
      const webhook = webhookMessage(await webhooks.delete(requireId(webhookId)));
      noteBefore(context, WebhookSchema, webhook);
      return { webhook };
    },

    async pauseWebhook({ webhookId }, context) {
      const id = requireId(webhookId);
      noteBefore(context, WebhookSchema, webhookMessage(await webhooks.get(id)));
      return { webhook: webhookMessage(await webhooks.pause(id)) };
    },

    async resumeWebhook({ webhookId }, context) {
      const id = requireId(webhookId);
      noteBefore(context, WebhookSchema, webhookMessage(await webhooks.get(id)));
      return { webhook: webhookMessage(await webhooks.resume(id)) };
    },

    async sendTestEvent({ webhookId }) {
      return { delivery: deliveryMessage(await webhooks.sendTest(requireId(webhookId))) };
    },

    async redeliver({ webhookId, deliveryId }) {
      const id = requireId(webhookId);
      if (!isUuid(deliveryId)) {
        throw invalid("delivery_id", "The endpoint has no such delivery.");
      }
      return { delivery: deliveryMessage(await webhooks.redeliver(id, deliveryId)) };
    },

    async listDeliveries({ webhookId, ...request }) {
      const { id } = await webhooks.get(requireId(webhookId));
      const key = ({ at, eventId }: Delivery) => toEventKey(at, eventId);
      const read = readPage(`deliveries of ${id}`, request, (start) => webhooks.deliveries(id, start), key, isKey);
      const { entries, nextPageToken } = await read;
      return { deliveries: entries.map(deliveryMessage), nextPageToken };
    },
  };
}

function requireId(id: string): string {
  if (!isUuid(id)) {
    throw noWebhook();
  }
  return id;
}

function eventMessage({ id, type, accountId, at, body }: Event) {
  const { data } = JSON.parse(body) as { data: JsonObject };
  return { id, type, timestamp: timestampFromDate(at), accountId: accountId ?? "", data };
}

function webhookMessage({ id, url, events, createdAt, pausedAt }: Webhook) {
  const paused = pausedAt ? { pausedAt: timestampFromDate(pausedAt) } : {};
  return { id, url, events: events.split(","), createdAt: timestampFromDate(createdAt), ...paused };
}

function deliveryMessage(delivery: Delivery) {
  const { id, eventId, type, status, attempts, error, at, nextAt, deliveredAt, responseStatus } = delivery;
  return {
    id,
    eventId,
    type,
    status,
    attempts,
    error,
    createdAt: timestampFromDate(at),
    ...(nextAt ? { nextAttemptAt: timestampFromDate(nextAt) } : {}),
    ...(deliveredAt ? { deliveredAt: timestampFromDate(deliveredAt) } : {}),
    ...(responseStatus ? { responseStatus } : {}),
  };
}
