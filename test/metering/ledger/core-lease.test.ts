import { beforeEach, expect, test } from "@jest/globals";
import { CoreLease } from "../../../src/metering/ledger/core-lease.ts";
import type { LedgerStore } from "../../../src/metering/store/ledger-store.ts";
import { FakeClock } from "../../fake-clock.ts";

let clock: FakeClock;
let asked: string[];
let away: boolean;
let coreLease: CoreLease;

const create = (shared: boolean) => {
  const store = {
    shared,
    async heartbeat() {
      asked.push("beat");
      if (away) throw new Error("the store is away");
      return 2;
    },
    async reap() {
      asked.push("reap");
      return 0;
    },
  } as unknown as LedgerStore;
  const nothing = () => {};
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  return new CoreLease({ store, clock, logger });
};

beforeEach(async () => {
  clock = new FakeClock();
  asked = [];
  away = false;
  coreLease = create(true);
  await coreLease.renew();
  asked = [];
});

test("beats every five seconds, and looks for the dead each time", async () => {
  for (let second = 1; second <= 10; second++) {
    clock.advance(1000);
    expect(await coreLease.renew()).toBe(true);
  }
  expect(asked).toEqual(["beat", "reap", "beat", "reap"]);
});

test("without a beat its slices are surely its own for 25 seconds", async () => {
  away = true;
  clock.advance(24_999);
  expect(await coreLease.renew()).toBe(true);
  expect(coreLease.isValid).toBe(true);
  clock.advance(1);
  expect(coreLease.isValid).toBe(false);
});

test("the wall clock does not matter", async () => {
  clock.jump(3_600_000);
  expect(coreLease.isValid).toBe(true);
  clock.jump(-7_200_000);
  clock.advance(25_000);
  expect(coreLease.isValid).toBe(false);
});

test("tries again every second once its time is over, and then says once that slices may be lost", async () => {
  away = true;
  clock.advance(26_000);
  expect([await coreLease.renew(), await coreLease.renew()]).toEqual([true, true]);
  away = false;
  expect([await coreLease.renew(), await coreLease.renew()]).toEqual([false, true]);
  expect(coreLease.isValid).toBe(true);
});

test("when it comes back it takes nobody for dead before the others could come back too", async () => {
  clock.advance(26_000);
  await coreLease.renew();
  expect(asked).toEqual(["beat"]);
  clock.advance(5000);
  await coreLease.renew();
  expect(asked).toEqual(["beat", "beat", "reap"]);
});

test("a core that is alone needs no beat", async () => {
  const alone = create(false);
  clock.advance(3_600_000);
  expect(await alone.renew()).toBe(true);
  expect(alone.isValid).toBe(true);
  expect(asked).toEqual([]);
});
