import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";

/** The most events read, and deliveries made, in one transaction, so that it takes only some milliseconds. */
const eventsAtOnce = 100;
const deliveriesAtOnce = 100;

/**
 * The oldest events that have no deliveries yet. SQLite uses their index only when the condition is written as in the
 * index.
 */
export async function readUnspread(em: SqlEntityManager, limit: number): Promise<Event[]> {
  const rows = await em.execute<Row[]>("select * from event where not spread order by at, id limit ?", [limit]);
  return rows.map((row) => readEntity(Event, row));
}

/** Makes what else is sent of events, in the same transaction. */
export type SpreadAlongside = (em: SqlEntityManager, events: readonly Event[]) => Promise<void>;

/** What making deliveries takes. */
export interface SpreadParts {
  readonly random: Random;
  readonly now: Date;
  readonly alongside: SpreadAlongside | undefined;
}

/**
 * Makes the deliveries of the oldest events that have none yet, of at least one event. Returns the number of these
 * events.
 */
export async function spreadEvents(em: SqlEntityManager, { random, now, alongside }: SpreadParts): Promise<number> {
  const events = await readUnspread(em, eventsAtOnce);
  if (events.length === 0) {
    return 0;
  }
  // Locked: otherwise a delivery that ends meanwhile would not see the new ones that wait for it.
  const found = await em.find(Webhook, {}, { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE });
  const webhooks = found.map(({ id, events: types, createdAt }) => ({ id, types: types.split(","), createdAt }));
  const made: { event: Event; webhookId: string; lane: string }[] = [];
  const done: string[] = [];
  for (const event of events) {
    // An endpoint gets events of the types that it subscribed to, from its creation on.
    const told = webhooks.filter(({ types, createdAt }) => createdAt <= event.at && types.includes(event.type));
    if (made.length > 0 && made.length + told.length > deliveriesAtOnce) {
      break;
    }
    made.push(...told.map(({ id }) => ({ event, webhookId: id, lane: event.accountId ?? "" })));
    done.push(event.id);
  }
  const busy = await readBusy(em, made);
  const rows = made.map(({ event, webhookId, lane }) => {
    const place = toPlace(webhookId, lane);
    const waits = busy.has(place);
    busy.add(place);
    return {
      id: random.uuid(),
      webhookId,
      eventId: event.id,
      type: event.type,
      lane,
      at: event.at,
      status: "pending" as const,
      attempts: 0,
      nextAt: waits ? null : now,
      firstAt: null,
      deliveredAt: null,
      responseStatus: null,
      error: "",
    };
  });
  if (rows.length > 0) {
    await em.insertMany(Delivery, rows);
  }
  await alongside?.(em, events.slice(0, done.length));
  await em.nativeUpdate(Event, { id: { $in: done } }, { spread: true });
  return done.length;
}

/** The lanes of endpoints that have pending deliveries: new deliveries wait there. */
async function readBusy(
  em: SqlEntityManager,
  made: readonly { readonly webhookId: string; readonly lane: string }[],
): Promise<Set<string>> {
  const webhookIds = [...new Set(made.map(({ webhookId }) => webhookId))];
  const lanes = [...new Set(made.map(({ lane }) => lane))];
  if (lanes.length === 0) {
    return new Set();
  }
  const rows = await em.execute<Row[]>(
    `with place (lane) as (values ${lanes.map(() => "(?)").join(", ")})
     select webhook.id, place.lane from webhook cross join place
     where webhook.id in (${webhookIds.map(() => "?").join(", ")}) and exists (
       select 1 from delivery
       where delivery.webhook_id = webhook.id and delivery.lane = place.lane and delivery.status = 'pending')`,
    [...lanes, ...webhookIds],
  );
  return new Set(rows.map(({ id, lane }) => toPlace(String(id), String(lane))));
}

function toPlace(webhookId: string, lane: string): string {
  return `${webhookId} ${lane}`;
}
