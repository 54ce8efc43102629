import { Delivery, Webhook } from "#src/storage/entities/event.ts";
import { Mail } from "#src/storage/entities/mail.ts";
import { DeadLetter } from "#src/storage/entities/metering/dead-letter.ts";
import { UsageEvent } from "#src/storage/entities/metering/usage-event.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Trouble } from "./trouble.ts";

/** What waits for longer is not only late. */
const patienceMs = 300_000;
/** Mails that were given up are told for so long. */
const mailsMs = 86_400_000;
/** The most rows that are counted. */
const mostCounted = 1000;

/** What the database tells of things that are left undone. Rejects when it cannot be asked. */
export async function findStoredTroubles(storage: Storage, now: number): Promise<Trouble[]> {
  const em = storage.orm.em.fork();
  const before = new Date(now - patienceMs);
  const letters = await em.find(DeadLetter, {}, { orderBy: { id: "asc" }, limit: mostCounted, fields: ["at"] });
  const paused = (await em.find(Webhook, { pausedAt: { $ne: null } }, { fields: ["id"] })).map(({ id }) => id);
  const refused = {
    status: "pending" as const,
    nextAt: { $ne: null },
    firstAt: { $lt: before },
    webhookId: { $nin: paused },
  };
  const deliveries = await em.find(Delivery, refused, { limit: mostCounted, fields: ["firstAt", "error"] });
  const [event] = await em.find(UsageEvent, { at: { $lt: before } }, { orderBy: { at: "asc" }, limit: 1 });
  const waiting = { status: "pending" as const, firstAt: { $lt: before } };
  const givenUp = { status: "failed" as const, at: { $gt: new Date(now - mailsMs) } };
  const mails = await em.find(Mail, { $or: [waiting, givenUp] }, { limit: mostCounted, fields: ["at", "error"] });
  const troubles: Trouble[] = [];
  if (letters.length > 0) {
    const reason = `${count(letters.length, "charge")} could not be made.`;
    troubles.push({ what: "dead_letters", reason, since: oldest(letters.map(({ at }) => at)) });
  }
  if (deliveries.length > 0) {
    const why = deliveries.find(({ error }) => error !== "")?.error ?? "no answer";
    const reason = `${count(deliveries.length, "delivery", "deliveries")} of events not taken: ${why}`;
    troubles.push({ what: "webhooks_not_taken", reason, since: oldest(deliveries.map(({ firstAt }) => firstAt)) });
  }
  if (event !== undefined) {
    const reason = "The receiver of usage events takes none.";
    troubles.push({ what: "usage_events_not_taken", reason, since: event.at.getTime() });
  }
  if (mails.length > 0) {
    const why = mails.find(({ error }) => error !== "")?.error ?? "no answer";
    const reason = `${count(mails.length, "mail")} not sent: ${why}`;
    troubles.push({ what: "mails_not_sent", reason, since: oldest(mails.map(({ at }) => at)) });
  }
  return troubles;
}

function count(many: number, one: string, several = `${one}s`): string {
  const most = many === mostCounted ? "at least " : "";
  return `${most}${many} ${many === 1 ? one : several}`;
}

function oldest(times: readonly (Date | null | undefined)[]): number {
  return Math.min(...times.flatMap((time) => (time ? [time.getTime()] : [])));
}
