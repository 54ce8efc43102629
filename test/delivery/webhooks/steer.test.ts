import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import { Delivery } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

const refused = { ok: false, status: 500, error: "the endpoint answered 500" };
const taken = { ok: true, status: 200, error: "" };

/** Two endpoints that ask for keys, and what is due to them. */
async function open(dialect: (typeof dialects)[number]) {
  const storage = await openStorage(await newDatabase(dialect));
  cleanups.push(() => storage.close());
  const clock = new ManualClock();
  const parts = { storage, clock, random: systemRandom };
  const announce = createAnnounce(parts);
  const seal = createSeal([{ version: 1, secret: "pepper" }], systemRandom);
  const webhooksOn = (on: Storage) => new Webhooks({ ...parts, storage: on, seal });
  const webhooks = webhooksOn(storage);
  const outbox = new Outbox(parts);
  const [one, other] = await Promise.all(
    ["one", "other"].map(
      async (name) => (await webhooks.create(`https://example.com/${name}`, ["key.created"])).webhook,
    ),
  );
  const tell = async (accountId: string) => {
    await inTransaction(storage, (em) => announce(em, { type: "key.created", accountId, data: {} }));
    await outbox.spread();
  };
  const due = async () => (await outbox.due([], 100)).map(({ webhookId, type }) => ({ webhookId, type }));
  const all = (webhookId: string) => webhooks.deliveries(webhookId, { after: undefined, limit: 100 });
  return { storage, clock, webhooks, webhooksOn, outbox, one: one?.id ?? "", other: other?.id ?? "", tell, due, all };
}

describe.each(dialects)("%s", (dialect) => {
  test("of two secrets that are made at once one follows the other, and both sign", async () => {
    const { webhooks, one } = await open(dialect);
    for (let round = 0; round < 10; round++) {
      const made = await Promise.all([webhooks.rotate(one, 60_000), webhooks.rotate(one, 60_000)]);
      const { secret, previousSecret } = await webhooks.get(one);
      expect([secret, previousSecret].toSorted()).toEqual(made.map(({ webhook }) => webhook.secret).toSorted());
    }
  });

  test("events of a paused endpoint wait, those of others go on, and resuming sends them", async () => {
    const { clock, webhooks, outbox, one, other, tell, due, all } = await open(dialect);
    await tell(v7());
    const first = { webhookId: one, type: "key.created" };
    const second = { webhookId: other, type: "key.created" };
    expect(await due()).toHaveLength(2);
    const since = (await webhooks.pause(one)).pausedAt;
    clock.advance(60_000);
    expect((await webhooks.pause(one)).pausedAt).toEqual(since);
    await tell(v7());
    expect(await due()).toEqual([second, second]);
    expect(await outbox.backlog()).toEqual({ waiting: 2, oldestMs: 60_000 });
    expect((await webhooks.resume(one)).pausedAt).toBeNull();
    expect(await due()).toEqual(expect.arrayContaining([first, first, second, second]));
    expect((await all(one)).map(({ attempts }) => attempts)).toEqual([0, 0]);
  });

  test("a pause takes nothing from the three days that an endpoint has", async () => {
    const { clock, webhooks, outbox, one, tell, all } = await open(dialect);
    await tell(v7());
    const [delivery] = await all(one);
    await outbox.finish(delivery as NonNullable<typeof delivery>, new Date(clock.now()), refused);
    await webhooks.pause(one);
    clock.advance(4 * 86_400_000);
    await webhooks.resume(one);
    const status = await outbox.finish(delivery as NonNullable<typeof delivery>, new Date(clock.now()), refused);
    expect(status).toBe("pending");
  });

  test("a test goes to one endpoint at once, whatever it subscribed to and beside what waits", async () => {
    const { webhooks, outbox, one, due } = await open(dialect);
    const { id, eventId } = await webhooks.sendTest(one);
    expect(await outbox.spread()).toBe(0);
    expect(await due()).toEqual([{ webhookId: one, type: "webhook.test" }]);
    const [found] = await outbox.due([], 1);
    const { event } = (await outbox.read(found as NonNullable<typeof found>)) ?? {};
    expect([found?.id, event?.id]).toEqual([id, eventId]);
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ type: "webhook.test", data: { webhook_id: one } });
  });

  test("an event is sent again after it was delivered, and at once where its next attempt is later", async () => {
    const { clock, webhooks, outbox, one, tell, all } = await open(dialect);
    const account = v7();
    await tell(account);
    await tell(account);
    const [second, first] = await all(one);
    const [waiting, begun] = [second as NonNullable<typeof second>, first as NonNullable<typeof first>];
    await expect(webhooks.redeliver(one, waiting.id)).rejects.toThrow("It waits for an earlier event");
    await outbox.finish(begun, new Date(clock.now()), refused);
    expect((await webhooks.redeliver(one, begun.id)).nextAt).toEqual(new Date(clock.now()));
    expect(await outbox.finish(begun, new Date(clock.now()), taken)).toBe("delivered");
    expect(await webhooks.redeliver(one, begun.id)).toMatchObject({ status: "pending", deliveredAt: null });
    await expect(webhooks.redeliver(one, v7())).rejects.toThrow("The endpoint has no such delivery.");
    await expect(webhooks.redeliver(v7(), begun.id)).rejects.toThrow("There is no such webhook.");
  });

  test("an endpoint whose removal breaks off goes on with what is left of each account's events, in order", async () => {
    const { storage, clock, webhooks, webhooksOn, outbox, one, all } = await open(dialect);
    const accounts = [v7(), v7(), v7()];
    for (const batch of [0, 1, 2]) {
      const rows = Array.from({ length: 600 }, (_, at) => {
        const lane = accounts[at % accounts.length] as string;
        const place = { lane, at: new Date(clock.now()), nextAt: batch === 0 && at < 3 ? new Date(clock.now()) : null };
        clock.advance(1);
        return {
          ...{ id: v7(), webhookId: one, eventId: v7(), type: "key.created", ...place, status: "pending" as const },
          ...{ attempts: 0, firstAt: null, deliveredAt: null, responseStatus: null, error: "" },
        };
      });
      await storage.orm.em.fork().insertMany(Delivery, rows);
    }
    let transactions = 0;
    const dying = {
      ...storage,
      orm: {
        em: {
          fork: () => {
            if (++transactions > 1) {
              throw new Error("the process has died");
            }
            return storage.orm.em.fork();
          },
        },
      },
    } as unknown as Storage;
    await expect(webhooksOn(dying).delete(one)).rejects.toThrow("the process has died");
    expect(await storage.orm.em.fork().count(Delivery, { webhookId: one })).toBe(800);
    const lanes = (await outbox.due([], 10)).map(({ lane }) => lane);
    expect(lanes.toSorted()).toEqual(accounts.toSorted());
    await webhooks.delete(one);
    expect(await all(one)).toEqual([]);
    await expect(webhooks.delete(one)).rejects.toThrow("There is no such webhook.");
  });
});
