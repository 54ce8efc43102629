import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** An event, written in the transaction that made it happen. */
export const Event = defineEntity({
  name: "Event",
  properties: {
    id: p.uuid().primary(),
    type: p.string(),
    /** Null: it concerns no account. */
    accountId: p.uuid().nullable(),
    /** The body of every delivery, byte for byte. */
    body: p.text(),
    at: p.datetime(3),
    /** Whether deliveries exist for all endpoints that want it. */
    spread: p.boolean().default(false),
  },
  indexes: [
    { properties: ["at", "id"] },
    { properties: ["type", "at", "id"] },
    { name: "event_not_spread", properties: ["at", "id"], where: "not spread" },
  ],
});
export type Event = InferEntity<typeof Event>;

/** An endpoint that gets events. */
export const Webhook = defineEntity({
  name: "Webhook",
  properties: {
    id: p.uuid().primary(),
    url: p.text(),
    /** The types of events, separated by commas. */
    events: p.text(),
    /** The secret that signs requests, sealed by a key pepper. */
    secret: p.text(),
    /** The previous secret, which also signs for a while. Null: none. */
    previousSecret: p.text().nullable(),
    previousUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    /** Since when its deliveries wait. Null: they are made. */
    pausedAt: p.datetime(3).nullable(),
  },
});
export type Webhook = InferEntity<typeof Webhook>;

/** The state of a delivery. failed: given up. */
export const deliveryStatuses = ["pending", "delivered", "failed"] as const;

/** One event for one endpoint. */
export const Delivery = defineEntity({
  name: "Delivery",
  properties: {
    id: p.uuid().primary(),
    webhookId: () => p.manyToOne(Webhook).mapToPk().joinColumn("webhook_id").index(false),
    eventId: p.uuid(),
    type: p.string(),
    /** Deliveries of one endpoint and one lane are sent one after the other. The lane is the account's id, or empty. */
    lane: p.string(),
    /** When the event happened. With the event's id it gives the order within the lane. */
    at: p.datetime(3),
    status: p.enum(deliveryStatuses),
    attempts: p.integer(),
    /** Null: it is over, or waits for an earlier one of its lane. */
    nextAt: p.datetime(3).nullable(),
    /** Null: not tried yet. */
    firstAt: p.datetime(3).nullable(),
    deliveredAt: p.datetime(3).nullable(),
    /** Null: there was no answer. */
    responseStatus: p.integer().nullable(),
    error: p.text(),
  },
  uniques: [{ properties: ["webhookId", "eventId"] }],
  indexes: [
    { name: "delivery_due", properties: ["nextAt"], where: "status = 'pending' and next_at is not null" },
    { name: "delivery_lane", properties: ["webhookId", "lane", "at", "eventId"], where: "status = 'pending'" },
    { properties: ["webhookId", "at", "eventId"] },
    { properties: ["at"] },
  ],
});
export type Delivery = InferEntity<typeof Delivery>;

/** A lease on work that one core at a time does for all. */
export const WorkLease = defineEntity({
  name: "WorkLease",
  properties: {
    name: p.string().primary(),
    holder: p.string(),
    until: p.datetime(3),
  },
});
export type WorkLease = InferEntity<typeof WorkLease>;
