import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases } from "../../databases.ts";
import { type Metering, never, openMetering, request, run, usd } from "../../fixture.ts";

// A core that others took for dead knows nothing of its money until it has asked, even once it is alive again.

const out = 250_000;
const newDatabase = databases();
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

/** A core that sleeps or is cut off, and another one that goes on. */
async function openTwo() {
  const url = await newDatabase("postgresql");
  const [clock, otherClock] = [new ManualClock(Date.now()), new ManualClock(Date.now())];
  let isCutOff = false;
  const auditing = Promise.withResolvers<void>();
  const mayAudit = Promise.withResolvers<void>();
  let isBack = false;
  const wrap = (store: LedgerStore) => {
    for (const name of ["heartbeat", "openSlices", "acquire", "acquireBudget", "giveBack"] as const) {
      const call = (store[name] as (...parameters: unknown[]) => Promise<unknown>).bind(store);
      store[name] = (async (...parameters: unknown[]) => {
        if (isCutOff) {
          throw new Error("the network is cut");
        }
        if (isBack && name === "openSlices") {
          auditing.resolve();
          await mayAudit.promise;
        }
        return call(...parameters);
      }) as never;
    }
    return store;
  };
  const sleeper = await openMetering({ clock, url, wrap });
  const other = await openMetering({ clock: otherClock, url });
  const hold = (metering: Metering, time: ManualClock, ...asked: Parameters<typeof request>) =>
    time.until(metering.ledger.hold(request(...asked), never));
  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => "admitted",
      (error: unknown) => Reason[readDetail(error)?.reason ?? 0],
    );
  return {
    ...{ clock, otherClock, sleeper, other, hold, reasonOf, auditing, mayAudit },
    cut: (cutOff: boolean) => {
      isCutOff = cutOff;
    },
    /** The other core takes the sleeping one for dead. */
    bury: async () => void (await otherClock.until(other.store.reap((await other.store.heartbeat()).others))),
    back: () => {
      isBack = true;
    },
    async close() {
      await clock.until(sleeper.close());
      await otherClock.until(other.close());
    },
  };
}

test.each(["asleep", "cut off"])("a core that was %s spends nothing that others have spent meanwhile", async (how) => {
  const { clock, otherClock, sleeper, other, hold, reasonOf, auditing, mayAudit, ...world } = await openTwo();
  const accountId = await other.account({ free: 4000 * out });
  const budget = { id: v7(), limit: 2000 * out, period: "total" } as const;
  const rich = await other.account({ paid: usd });
  await clock.until(run(sleeper.ledger, request(accountId, output(1000))));
  await clock.until(run(sleeper.ledger, request(rich, output(500), { budget, keyId: budget.id })));
  expect(sleeper.ledger.state().admits).toBe(true);

  if (how === "asleep") {
    clock.advance(33_000); // its timers are due only once it is awake, after it has jumped
  } else {
    world.cut(true);
    await clock.pass(33_000);
    world.cut(false);
  }
  expect(sleeper.ledger.state().admits).toBe(false);
  await world.bury();
  await otherClock.until(run(other.ledger, request(accountId, output(3000))));
  await otherClock.until(run(other.ledger, request(rich, output(1500), { budget, keyId: budget.id })));

  world.back();
  const passing = clock.pass(3000);
  await auditing.promise; // its heartbeat is answered, and its losses are not known yet
  const admissions = Array.from({ length: 20 }, () => reasonOf(hold(sleeper, clock, accountId, output(100))));
  expect(new Set(await Promise.all(admissions))).toEqual(new Set(["LEDGER_UNAVAILABLE"]));
  expect(await reasonOf(hold(sleeper, clock, rich, output(100), { budget, keyId: budget.id }))).toBe(
    "LEDGER_UNAVAILABLE",
  );
  mayAudit.resolve();
  await passing;
  await clock.pass(3000);
  expect(sleeper.ledger.state().admits).toBe(true);
  expect(await reasonOf(hold(sleeper, clock, accountId, output(100)))).toBe("BALANCE_EXHAUSTED");
  expect(await reasonOf(hold(sleeper, clock, rich, output(100), { budget, keyId: budget.id }))).toBe(
    "BUDGET_EXHAUSTED",
  );
  expect(await other.funds.statement(accountId)).toMatchObject({ balance: 0n, debt: 0n });
  await world.close();
});

test("a request that waits for money gets none on a core that fell asleep in the meantime", async () => {
  const { clock, sleeper, other, hold, reasonOf, ...world } = await openTwo();
  const accountId = await other.account({ free: 1000 * out });
  const first = await hold(sleeper, clock, accountId, output(1000));
  const second = reasonOf(sleeper.ledger.hold(request(accountId, output(500)), never));
  await clock.pass(100);
  first.release();
  clock.advance(33_000); // between the news of the money and the look at it
  expect(await second).toBe("LEDGER_UNAVAILABLE");
  await world.close();
});
