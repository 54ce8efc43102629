import { expect, test } from "@jest/globals";
import type { OwnTerms } from "#src/money/model/prices/own-prices.ts";
import { keepOwnPrices } from "#src/money/prices/kept-own-prices.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const terms = (discount: number): OwnTerms => ({ discount, fixed: new Map() });

test("an account's own prices are read once in ten seconds, and told as they were while the database is away or slow", async () => {
  const clock = new ManualClock();
  let read: () => Promise<OwnTerms | undefined> = async () => terms(100);
  let reads = 0;
  const find = keepOwnPrices(clock, () => {
    reads++;
    return read();
  });
  expect(await find("a")).toEqual(terms(100));
  read = async () => terms(200);
  clock.advance(9999);
  expect(await find("a")).toEqual(terms(100));
  expect(reads).toBe(1);
  clock.advance(1);
  expect(await find("a")).toEqual(terms(200));
  clock.advance(10_000);
  read = () => Promise.reject(new Error("the database is away"));
  expect(await find("a")).toEqual(terms(200));
  expect(await find("b")).toBeUndefined();
  clock.advance(10_000);
  read = () => new Promise(() => {});
  const slow = find("a");
  clock.advance(250);
  expect(await slow).toEqual(terms(200));
});

test("an answer that comes late takes the place of none that was asked for after it", async () => {
  const clock = new ManualClock();
  const asked: PromiseWithResolvers<OwnTerms | undefined>[] = [];
  const find = keepOwnPrices(clock, () => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)?.promise ?? Promise.resolve(undefined);
  });
  const first = find("a");
  clock.advance(250);
  expect(await first).toBeUndefined();
  const second = find("a");
  asked[1]?.resolve(terms(200));
  expect(await second).toEqual(terms(200));
  asked[0]?.reject(new Error("the database was away"));
  await clock.advanceAsync(1);
  expect(await find("a")).toEqual(terms(200));
});
