import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemClock } from "#lib/time/clock.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { UsageLine } from "#src/storage/entities/metering/usage.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../databases.ts";
import { models, openMetering, request, run, testModel, usd } from "../fixture.ts";
import { generalPrices } from "./general-prices.ts";

// Versions of prices that a database loses when it goes back to an older state of itself.

const newDatabase = databases();

/** The database fails over into the time of its first version. */
async function goBack(storage: Storage): Promise<void> {
  const em = storage.orm.em.fork();
  await em.execute("delete from price where version_id > 1");
  await em.execute("delete from price_version where id > 1");
}

describe.each(dialects)("%s", (dialect) => {
  test("a version that takes the number of a lost one pays by its own prices, and what is configured is listed again", async () => {
    const clock = new ManualClock(Date.now());
    const configured = models({ id: "late", price: { input: "0.30", output: "0.30" } });
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { storage, prices, ledger } = metering;
    const account = await metering.account({ paid: usd });
    await prices.adopt(configured);
    await prices.set(testModel, { input: 7, output: 7 });
    await metering.funds.credit({ accountId: account, kind: "grant", amount: 70, reference: v7() });
    const output = { inputTokens: 0, outputTokens: 10 };
    await clock.until(run(ledger, request(account, output)));
    await clock.until(run(ledger, request(account, output, { model: "late" })));
    const [gone] = await prices.history(testModel, { limit: 1 });
    expect(gone?.version).toBe(3);

    // The database goes back to before them, and another core takes their numbers.
    const em = storage.orm.em.fork();
    await em.execute("delete from price where version_id > 1");
    await em.execute("update lot set price_version_id = 1");
    await em.execute("delete from price_version where id > 1");
    const elsewhere = await createPrices({ storage, clock, models: models() });
    for (const input of [20, 30]) {
      await elsewhere.set(testModel, { input, output: input });
    }
    const young = await metering.account({ free: 64 * 30 });
    const { requestId } = request(young, output);
    await clock.until(run(ledger, { ...request(young, { inputTokens: 0, outputTokens: 64 }), requestId }));
    const lines = await em.fork().find(UsageLine, { requestId });
    expect(new Set(lines.map(({ outputRate }) => outputRate))).toEqual(new Set([30]));

    await prices.refresh();
    expect(prices.live("late")).toEqual({ input: 300_000, output: 300_000 });
    expect((await prices.history("late", { limit: 1 }))[0]?.version).toBe(4);
    expect(prices.live(testModel)).toEqual({ input: 30, output: 30 });
    await clock.until(metering.close());
  });

  test("a served model keeps its price while a database that went back has lost it", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const em = storage.orm.em.fork();
    const book = new PriceBook(storage);
    const look = book.look.bind(book);
    const prices = await createPrices({ storage, clock: systemClock, book, models: models({ id: "new" }) });
    const live = prices.live("new");
    // The database goes back after a look at its newest version, and before its prices are read.
    book.look = async (newest) => {
      await look(newest);
      await em.execute("delete from price");
      await em.execute("delete from price_version");
    };
    await prices.refresh();
    expect(prices.live("new")).toEqual(live);
    expect(prices.list().map(({ model }) => model)).toEqual([testModel, "new"]);
    book.look = look;
    await prices.refresh();
    expect(await prices.history("new", { limit: 10 })).toHaveLength(1);
    await storage.close();
  });

  test("what a start has listed is listed again by a database that went back while the start read it", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    await createPrices({ storage, clock: systemClock, models: models() });
    const connection = storage.orm.em.getConnection();
    const commit = connection.commit.bind(connection);
    connection.commit = async (...parameters) => {
      await commit(...parameters);
      connection.commit = commit;
      await goBack(storage);
    };
    const prices = await createPrices({ storage, clock: systemClock, models: models({ id: "new" }) });
    expect(prices.list().map(({ model, version }) => [model, version])).toEqual([
      [testModel, 1],
      ["new", 2],
    ]);
    expect(await prices.book.load(generalPrices(1), "new")).toEqual(prices.live("new"));
    await storage.close();
  });

  test("what a start has configured is listed again by a database that went back before anything was paid", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const startAt = (input: string) =>
      createPrices({ storage, clock: systemClock, models: models({ id: "new", price: { input, output: "0.30" } }) });
    await startAt("0.30");
    const prices = await startAt("0.40");
    await goBack(storage);
    await prices.refresh();
    expect([prices.live("new"), prices.list()[1]?.version]).toEqual([{ input: 400_000, output: 300_000 }, 2]);
    await storage.close();
  });
});
