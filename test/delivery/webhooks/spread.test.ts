import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import { Delivery, Event } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { readPlans } from "../../support/plans.ts";

const newDatabase = databases();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** An outbox, and so many endpoints that ask for one type of events. */
async function open(dialect: (typeof dialects)[number], endpoints: number) {
  const storage = await openStorage(await newDatabase(dialect));
  cleanups.push(() => storage.close());
  const parts = { storage, clock: new ManualClock(), random: systemRandom };
  const announce = createAnnounce(parts);
  const seal = createSeal([{ version: 1, secret: "pepper" }], systemRandom);
  const webhooks = new Webhooks({ ...parts, seal });
  for (let count = 0; count < endpoints; count++) {
    await webhooks.create(`https://example.com/${count}`, ["key.created"]);
  }
  const tell = (accountIds: readonly string[]) =>
    inTransaction(storage, async (em) => {
      for (const accountId of accountIds) {
        await announce(em, { type: "key.created", accountId, data: {} });
      }
    });
  return { storage, outbox: new Outbox(parts), tell };
}

describe.each(dialects)("%s", (dialect) => {
  test("what is new is found by its index, however many events there are", async () => {
    const { storage, outbox } = await open(dialect, 0);
    for (const { query, steps } of await readPlans(storage, () => outbox.spread())) {
      expect({ query, steps }).toEqual({ query, steps: expect.stringContaining("event_not_spread") });
    }
    expect.assertions(1);
  });

  test("many events for many endpoints are spread in pieces, each lane in order behind its first", async () => {
    const { storage, outbox, tell } = await open(dialect, 30);
    const accounts = [v7(), v7(), v7(), v7()];
    await tell(accounts);
    await outbox.spread();
    await tell([...accounts, ...accounts, v7()]);
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    expect(await outbox.spread()).toBe(9);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(3); // of 3 events with 30 deliveries each
    const em = storage.orm.em.fork();
    expect(await em.count(Event, { spread: false })).toBe(0);
    expect(await em.count(Delivery)).toBe(13 * 30);
    expect(await em.count(Delivery, { nextAt: { $ne: null } })).toBe(5 * 30);
    const heads = await em.find(Delivery, { nextAt: { $ne: null }, lane: accounts[0] ?? "" });
    const [first] = await em.find(Event, { accountId: accounts[0] ?? "" }, { orderBy: { at: "asc", id: "asc" } });
    expect(new Set(heads.map(({ eventId }) => eventId))).toEqual(new Set([first?.id]));
  });
});
