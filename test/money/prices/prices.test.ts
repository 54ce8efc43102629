import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { v7 } from "uuid";
import { systemClock } from "#lib/time/clock.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { Price, PriceVersion } from "#src/storage/entities/metering/price.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../databases.ts";
import { models, testModel } from "../fixture.ts";
import { generalPrices } from "./general-prices.ts";

const newDatabase = databases();

/** The rows that the ORM and snapshots read while a function runs. */
async function countRows(storage: Storage, run: () => Promise<unknown>): Promise<number> {
  const connection = storage.orm.em.getConnection();
  const execute = connection.execute.bind(connection);
  let rows = 0;
  connection.execute = (async (...parameters: Parameters<typeof execute>) => {
    const result: unknown = await execute(...parameters);
    if (Array.isArray(result)) {
      rows += result.length;
    }
    return result;
  }) as typeof connection.execute;
  const open = storage.snapshot;
  storage.snapshot = async () => {
    const snapshot = await open.call(storage);
    const read = snapshot.rows.bind(snapshot);
    snapshot.rows = async function* (...parameters) {
      for await (const piece of read(...parameters)) {
        rows += piece.length;
        yield piece;
      }
    };
    return snapshot;
  };
  await run();
  connection.execute = execute;
  storage.snapshot = open;
  return rows;
}

/** Holds the answer back that the next statement of the ORM with a text gets, until it is told to pass it on. */
function holdBack(storage: Storage, text: string) {
  const connection = storage.orm.em.getConnection();
  const execute = connection.execute.bind(connection);
  const held = Promise.withResolvers<void>();
  const passed = Promise.withResolvers<void>();
  connection.execute = (async (...parameters: Parameters<typeof execute>) => {
    const result: unknown = await execute(...parameters);
    if (String(parameters[0]).includes(text)) {
      connection.execute = execute;
      held.resolve();
      await passed.promise;
    }
    return result;
  }) as typeof connection.execute;
  return { held: held.promise, pass: passed.resolve };
}

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
    await (await pricesOf()).set(testModel, { input: 1, output: 2 });
    expect((await pricesOf()).live(testModel)).toEqual({ input: 1, output: 2 });
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
    expect(await first.history(testModel, { limit: 10 })).toHaveLength(1);
    await first.set(testModel, { input: 5, output: 6 });
    await second.refresh();
    expect(second.live(testModel)).toEqual({ input: 5, output: 6 });
    await storage.close();
  });

  test("an older answer that comes late leaves the newer prices as they are", async () => {
    const { storage, pricesOf } = await start();
    const prices = await pricesOf();
    const { held, pass } = holdBack(storage, "with recursive listed");
    const late = prices.refresh();
    await held;
    await prices.set(testModel, { input: 7, output: 8 });
    pass();
    await late;
    expect(prices.live(testModel)).toEqual({ input: 7, output: 8 });
    await storage.close();
  });

  test("a lot pays by its version, or by the first later one that lists the model", async () => {
    const { storage, pricesOf } = await start();
    await pricesOf();
    const prices = await pricesOf({ id: "late" });
    await prices.set("late", { input: 9, output: 9 });
    await prices.set(testModel, { input: 1, output: 1 });
    await prices.set("late", { input: 8, output: 8 });
    expect(await prices.book.load(generalPrices(1), testModel)).toEqual({ input: 200_000, output: 250_000 });
    expect(await prices.book.load(generalPrices(4), testModel)).toEqual({ input: 1, output: 1 });
    expect(await prices.book.load(generalPrices(1), "late")).toEqual({ input: 200_000, output: 250_000 });
    expect(await prices.book.load(generalPrices(3), "late")).toEqual({ input: 9, output: 9 });
    expect(await prices.book.load(generalPrices(5), "late")).toEqual({ input: 8, output: 8 });
    await expect(prices.book.load(generalPrices(1), "never")).rejects.toThrow("was never priced");
    await storage.close();
  });

  test("whatever is published, every version says of every model what a whole list would say", async () => {
    const { storage, pricesOf } = await start();
    const ids = [testModel, "a", "b", "c"];
    const step = fc.record({ of: fc.constantFrom(...ids), input: fc.integer({ min: 1, max: 5 }) });
    /** Every version's whole list, as the rule is told of. */
    const lists: Map<string, number>[] = [];
    let configured: string[] = [];
    let prices = await pricesOf();
    const note = () => {
      const before = lists.at(-1) ?? new Map<string, number>();
      const now = new Map([...before, ...prices.list().map(({ model, live }) => [model, live.input] as const)]);
      const changed = lists.length === 0 || [...now].some(([model, input]) => before.get(model) !== input);
      if (changed) {
        lists.push(now);
      }
    };
    note();
    for (const { of, input } of fc.sample(step, { numRuns: 30, seed: 6 })) {
      // A model that is taken out of the configuration and put back keeps its price meanwhile.
      configured = configured.includes(of) && input === 1 ? configured.filter((id) => id !== of) : [...configured, of];
      const others = [...new Set(configured)].filter((id) => id !== testModel);
      prices = await pricesOf(...others.map((id) => ({ id })));
      note();
      // The same price again is a version of its own all the same; not what this test is about.
      if (prices.list().some(({ model, live }) => model === of && live.input !== input)) {
        await prices.set(of, { input, output: 1 });
        note();
      }
    }
    for (const [at] of lists.entries()) {
      for (const [id, input] of knownFrom(lists.slice(at))) {
        expect([at, id, (await prices.book.load(generalPrices(at + 1), id)).input]).toEqual([at, id, input]);
      }
    }
    await storage.close();
  });

  /** Each model's price in the first of the lists that has it. */
  const knownFrom = (lists: readonly Map<string, number>[]) => new Map(lists.toReversed().flatMap((list) => [...list]));

  test("a version stores what it changed, and reading costs the same after any number of versions", async () => {
    const { storage, pricesOf } = await start();
    const others = Array.from({ length: 9 }, (_, n) => ({ id: `other-${n}` }));
    const prices = await pricesOf(...others);
    const rowsRead = await countRows(storage, () => prices.refresh());
    for (let input = 1; input <= 60; input++) {
      await prices.set(testModel, { input, output: 1 });
    }
    const em = storage.orm.em.fork();
    expect([await em.count(PriceVersion), await em.count(Price)]).toEqual([61, 10 + 60]);
    expect(await countRows(storage, () => prices.refresh())).toBeLessThanOrEqual(rowsRead + 1);
    expect(await countRows(storage, () => prices.history(testModel, { limit: 5 }))).toBe(5);
    const move = () => prices.move(new Date(8.64e15), () => undefined);
    expect(await countRows(storage, move)).toBeLessThanOrEqual(2 * rowsRead + 2);
    expect(await countRows(storage, () => prices.book.load(generalPrices(30), "other-3"))).toBe(1);
    const pages = [];
    for (let before = 62; before > 1; before = pages.at(-1)?.at(-1)?.version ?? 0) {
      pages.push(await prices.history(testModel, { before, limit: 25 }));
    }
    expect(pages.map((page) => page.length)).toEqual([25, 25, 11]);
    expect(pages.flat().map(({ version }) => version)).toEqual(Array.from({ length: 61 }, (_, n) => 61 - n));
    await storage.close();
  });

  test("a long page of past prices leaves the event loop to others", async () => {
    const { storage, pricesOf } = await start();
    const prices = await pricesOf();
    const first = await storage.orm.em.fork().findOneOrFail(Price, { model: testModel });
    const versions = Array.from({ length: 1000 }, (_, n) => n + 2);
    const em = storage.orm.em.fork();
    await em.insertMany(
      PriceVersion,
      versions.map((id) => ({ id, publishedAt: new Date(), mark: v7() })),
    );
    const { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned } = first;
    const facts = { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned };
    await em.insertMany(
      Price,
      versions.map((versionId) => ({
        ...facts,
        versionId,
        model: testModel,
        reason: "moved" as const,
        utilisation: 0.5,
      })),
    );
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) {
        setImmediate(turn);
      }
    };
    setImmediate(turn);
    const page = await prices.history(testModel, { limit: 1000 });
    isOver = true;
    expect(page).toHaveLength(1000);
    expect(page[0]).toMatchObject({
      version: 1001,
      reason: "moved",
      utilisation: 0.5,
      pinned: false,
      live: { input, output },
    });
    expect(turns).toBeGreaterThanOrEqual(10);
    await storage.close();
  });

  test("the book forgets what was asked for least recently, and reads it again", async () => {
    const { storage, pricesOf } = await start();
    const prices = await pricesOf({ id: "other" });
    await prices.set(testModel, { input: 1, output: 2 });
    const book = new PriceBook(storage, 2);
    await book.load(generalPrices(1), testModel);
    await book.load(generalPrices(1), "other");
    expect(await countRows(storage, () => book.load(generalPrices(1), testModel))).toBe(0);
    await book.load(generalPrices(2), testModel);
    expect(book.size).toBe(2);
    expect(await countRows(storage, () => book.load(generalPrices(1), testModel))).toBe(0);
    expect(await countRows(storage, () => book.load(generalPrices(1), "other"))).toBe(1);
    await storage.close();
  });
});
