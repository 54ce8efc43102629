import { Delivery, Webhook } from "../storage/entities/event.ts";
import type { Storage } from "../storage/orm.ts";
import { inTransaction } from "../storage/transaction.ts";

/**
 * Copies the endpoints of the first database to another one, whose events are delivered from there. Deliveries to a
 * deleted endpoint are dropped with it. Writes nothing while both are the same.
 */
export async function copyWebhooks(first: Storage, other: Storage): Promise<void> {
  const webhooks = await read(first);
  const copies = new Map((await read(other)).map((webhook) => [webhook.id, JSON.stringify(webhook)]));
  const changed = webhooks.filter((webhook) => copies.get(webhook.id) !== JSON.stringify(webhook));
  const ids = new Set(webhooks.map(({ id }) => id));
  const gone = [...copies.keys()].filter((id) => !ids.has(id));
  if (changed.length + gone.length === 0) {
    return;
  }
  await inTransaction(other, async (em) => {
    await em.nativeDelete(Delivery, { webhookId: { $in: gone } });
    await em.nativeDelete(Webhook, { id: { $in: gone } });
    for (const webhook of changed) {
      await em.upsert(Webhook, webhook);
    }
  });
}

async function read(storage: Storage): Promise<Webhook[]> {
  const found = await storage.orm.em.fork().find(Webhook, {}, { orderBy: { id: "asc" } });
  return found.map(({ id, url, events, secret, previousSecret, previousUntil, createdAt }) => ({
    ...{ id, url, events, secret, createdAt },
    ...{ previousSecret: previousSecret ?? null, previousUntil: previousUntil ?? null },
  }));
}
