import { beforeEach, expect, test } from "@jest/globals";
import { CoreLease } from "#src/money/ledger/core/core-lease.ts";
import type { CoreBeat } from "#src/money/model/store/core.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";

let clock: ManualClock;
let asked: string[];
let away: boolean;
/** How long a beat is on its way. */
let beatTakesMs: number;
/** How long the machine sleeps while a beat is on its way. */
let sleepMs: number;
let wasDead: boolean;
let reapFails: boolean;
let other: CoreBeat;
let coreLease: CoreLease;

const create = (shared: boolean, logger = silentLogger) => {
  const store = {
    shared,
    async heartbeat() {
      asked.push("beat");
      clock.advance(beatTakesMs);
      clock.jump(sleepMs);
      if (away) {
        throw new Error("the store is away");
      }
      return { others: [other], wasDead };
    },
    async reap(dead: readonly CoreBeat[]) {
      asked.push(dead.length > 0 ? `reap ${dead.map(({ coreId }) => coreId)}` : "reap");
      if (reapFails) {
        throw new Error("the store is away");
      }
      return 0;
    },
  } as unknown as LedgerStore;
  return new CoreLease({ store, clock, logger });
};

beforeEach(async () => {
  clock = new ManualClock();
  asked = [];
  away = false;
  beatTakesMs = 0;
  sleepMs = 0;
  wasDead = false;
  reapFails = false;
  other = { coreId: "other", epoch: 1, beats: 1 };
  coreLease = create(true);
  await coreLease.renew();
  asked = [];
});

const pass = async (seconds: number, each = () => {}) => {
  for (let second = 1; second <= seconds; second++) {
    clock.advance(1000);
    each();
    await coreLease.renew();
  }
};

test("beats every five seconds, and looks for the dead each time", async () => {
  for (let second = 1; second <= 10; second++) {
    clock.advance(1000);
    await coreLease.renew();
    expect(coreLease.isValid).toBe(true);
  }
  expect(asked).toEqual(["beat", "reap", "beat", "reap"]);
});

test("without a beat its slices are surely its own for 25 seconds", async () => {
  away = true;
  clock.advance(24_999);
  await coreLease.renew();
  expect(coreLease.isValid).toBe(true);
  clock.advance(1);
  expect(coreLease.isValid).toBe(false);
});

test("a beat counts from the moment in which it was sent, however late its answer", async () => {
  beatTakesMs = 10_000;
  clock.advance(5000);
  await coreLease.renew();
  clock.advance(14_999);
  expect(coreLease.isValid).toBe(true);
  clock.advance(1);
  expect(coreLease.isValid).toBe(false);
});

test("a wall clock that goes back keeps it no longer alive", async () => {
  clock.jump(-7_200_000);
  expect(coreLease.isValid).toBe(true);
  clock.advance(25_000);
  expect(coreLease.isValid).toBe(false);
});

test("a machine's sleep, which its monotonic clock does not count, leaves it in doubt until it knows its losses", async () => {
  clock.jump(24_999);
  expect(coreLease.isValid).toBe(true);
  clock.jump(1);
  expect(coreLease.isValid).toBe(false);
  await coreLease.renew();
  expect([asked, coreLease.isValid, coreLease.isDoubtful]).toEqual([["beat", "reap"], false, true]);
  await coreLease.confirm(async () => {});
  expect(coreLease.isValid).toBe(true);
});

test("a beat whose machine falls asleep before the answer comes does not count", async () => {
  clock.advance(5000);
  sleepMs = 60_000;
  await coreLease.renew();
  expect(coreLease.isValid).toBe(false);
  sleepMs = 0;
  await coreLease.renew();
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([false, true]);
});

test("a core that comes back is alive, and valid only once it knows its losses", async () => {
  away = true;
  clock.advance(26_000);
  await coreLease.renew();
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([false, false]);
  away = false;
  await coreLease.renew();
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([false, true]);
  await expect(coreLease.confirm(() => Promise.reject(new Error("unknown")))).rejects.toThrow("unknown");
  await pass(10);
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([false, true]);
  await coreLease.confirm(async () => {});
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([true, false]);
  await coreLease.confirm(() => Promise.reject(new Error("nothing is in doubt")));
});

test("a core that comes into doubt while it finds out its losses has to find out once more", async () => {
  wasDead = true;
  await pass(5);
  await coreLease.confirm(() => pass(5)); // it is taken for dead again
  expect(coreLease.isDoubtful).toBe(true);
  wasDead = false;
  await coreLease.confirm(() => pass(5));
  expect(coreLease.isValid).toBe(true);
});

test("a core that could not say at its start that it is alive is in doubt", async () => {
  const late = create(true);
  away = true;
  await late.renew();
  away = false;
  clock.advance(40_000);
  await late.renew();
  expect(late.isDoubtful).toBe(true);
});

test("when it comes back it takes nobody for dead before the others could come back too", async () => {
  await pass(20);
  clock.advance(26_000);
  await pass(29);
  expect(asked).not.toContain("reap other");
  await pass(10);
  expect(asked).toContain("reap other");
});

test("a jump of the wall clock takes nobody for dead and keeps nobody alive", async () => {
  await pass(29, () => clock.jump(86_400_000));
  expect(asked).not.toContain("reap other");
  await pass(6, () => clock.jump(-86_400_000));
  expect(asked).toContain("reap other");
});

test("others that beat are never taken for dead", async () => {
  await pass(100, () => {
    other = { ...other, beats: other.beats + 1 };
  });
  expect(new Set(asked)).toEqual(new Set(["beat", "reap"]));
});

test("is in doubt when others took it for dead, even if it cannot clean up itself", async () => {
  wasDead = true;
  reapFails = true;
  clock.advance(5000);
  await coreLease.renew();
  expect([coreLease.isValid, coreLease.isDoubtful]).toEqual([false, true]);
});

test("a core that is alone needs no beat", async () => {
  const alone = create(false);
  clock.advance(3_600_000);
  await alone.renew();
  expect(alone.isValid).toBe(true);
  expect(asked).toEqual([]);
});

test("while the store is away that is said once, and once that it is back", async () => {
  const lines: string[] = [];
  const tell = (_: object, message: string) => void lines.push(message);
  const told = create(true, { ...silentLogger, info: tell, error: tell });
  const beat = async (times: number) => {
    for (let at = 0; at < times; at++) {
      clock.advance(5000);
      await told.renew();
    }
  };
  await beat(2);
  away = true;
  await beat(8);
  away = false;
  reapFails = true;
  await beat(3);
  reapFails = false;
  await beat(2);
  expect(lines).toEqual([
    "this core could not say that it is alive",
    "this core can say that it is alive again",
    "what dead cores had leased could not be given back",
    "what dead cores had leased can be given back again",
  ]);
});
