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
