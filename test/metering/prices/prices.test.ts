import { describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../lib/time/clock.ts";
import { createPrices } from "../../../src/metering/prices/prices.ts";
import { openStorage } from "../../../src/storage/orm.ts";
import { databases, dialects } from "../databases.ts";
import { MODEL, models } from "../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  const start = async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const pricesOf = (...entries: object[]) =>
      createPrices({ storage, clock: systemClock, models: models(...entries) });
    return { storage, pricesOf };
  };

  test("a start publishes what the configuration has changed, and nothing else", async () => {
    const { storage, pricesOf } = await start();
    const version = async (prices: Awaited<ReturnType<typeof pricesOf>>) => prices.list().map((price) => price.version);
    expect(await version(await pricesOf())).toEqual([1]);
    expect(await version(await pricesOf())).toEqual([1]);
    expect(await version(await pricesOf({ id: "new" }))).toEqual([1, 2]);
    const changed = await pricesOf({ id: "new", price: { input: "0.30" } });
    expect(await version(changed)).toEqual([1, 3]);
    expect(changed.live("new")).toEqual({ input: 300_000, output: 250_000 });
    await storage.close();
  });

  test("what the operator set outlives a start, until the configuration changes its mind", async () => {
    const { storage, pricesOf } = await start();
    await (await pricesOf()).set(MODEL, { input: 1, output: 2 });
    expect((await pricesOf()).live(MODEL)).toEqual({ input: 1, output: 2 });
    const { models: _, ...entry } = { models: 0, id: "x", price: { input: "0.30" } };
    const before = await pricesOf(entry);
    await before.pin("x", { input: 7 });
    const after = await pricesOf({ ...entry, price: { input: "0.40" } });
    expect(after.list()[1]).toMatchObject({ live: { input: 7 }, base: { input: 400_000 }, pinned: true });
    await storage.close();
  });

  test("cores that start at the same time publish once, and see each other's changes", async () => {
    const { storage, pricesOf } = await start();
    const [first, second] = await Promise.all([pricesOf(), pricesOf(), pricesOf()]);
    expect(await first.history(MODEL)).toHaveLength(1);
    await first.set(MODEL, { input: 5, output: 6 });
    await second.refresh();
    expect(second.live(MODEL)).toEqual({ input: 5, output: 6 });
    await storage.close();
  });

  test("a lot pays by its version, or by the first later one that lists the model", async () => {
    const { storage, pricesOf } = await start();
    await pricesOf();
    const prices = await pricesOf({ id: "late" });
    await prices.set("late", { input: 9, output: 9 });
    await prices.set(MODEL, { input: 1, output: 1 });
    await prices.set("late", { input: 8, output: 8 });
    expect(await prices.book.load(1, MODEL)).toEqual({ input: 200_000, output: 250_000 });
    expect(await prices.book.load(4, MODEL)).toEqual({ input: 1, output: 1 });
    expect(await prices.book.load(1, "late")).toEqual({ input: 200_000, output: 250_000 });
    expect(await prices.book.load(3, "late")).toEqual({ input: 9, output: 9 });
    expect(await prices.book.load(5, "late")).toEqual({ input: 8, output: 8 });
    await expect(prices.book.load(1, "never")).rejects.toThrow("has no price");
    await storage.close();
  });
});
