import { describe, expect, test } from "@jest/globals";
import { findStoredTroubles } from "#src/services/status/stored-troubles.ts";
import { Delivery, Event, Webhook } from "#src/storage/entities/event.ts";
import { DeadLetter } from "#src/storage/entities/metering/dead-letter.ts";
import { UsageEvent } from "#src/storage/entities/metering/usage-event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases, dialects } from "../../money/databases.ts";

const newDatabase = databases();
const id = "00000000-0000-4000-8000-000000000001";
const at = new Date("2026-01-31T12:00:00Z");

describe.each(dialects)("%s", (dialect) => {
  test("dead letters, webhooks and usage events that are not taken are told, since the oldest", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    try {
      const later = at.getTime() + 3_600_000;
      expect(await findStoredTroubles(storage, later)).toEqual([]);
      const em = storage.orm.em.fork();
      em.create(DeadLetter, { id: "r", charge: "{}", reason: "odd", coreId: id, at });
      const nobody = { previousSecret: null, previousUntil: null };
      em.create(Webhook, { id, url: "https://a.test", events: "", secret: "", ...nobody, createdAt: at });
      em.create(Event, { id, type: "books.failed", accountId: null, body: "{}", at, spread: true });
      em.create(Delivery, {
        ...{ id, webhookId: id, eventId: id, type: "books.failed", lane: "", at, status: "pending", attempts: 3 },
        ...{ nextAt: new Date(later), firstAt: at, deliveredAt: null, responseStatus: 500, error: "answered 500" },
      });
      em.create(UsageEvent, { requestId: "r", runId: id, at });
      await em.flush();
      expect(await findStoredTroubles(storage, later)).toEqual([
        { what: "dead_letters", reason: "1 charge could not be made.", since: at.getTime() },
        {
          what: "webhooks_not_taken",
          reason: "1 delivery of events not taken: answered 500",
          since: at.getTime(),
        },
        { what: "usage_events_not_taken", reason: "The receiver of usage events takes none.", since: at.getTime() },
      ]);
    } finally {
      await storage.close();
    }
  });
});
