import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { setOwnPrices } from "#src/money/prices/own-prices.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, testModel } from "../../fixture.ts";

// A credit line is spent after all money. What is spent of it is owed, and bought money repays it.

/** The tokens of a unit, and what they cost: 40 units are 1 USD. */
const unit = 100_000;
const out = 250_000 * unit;
const newDatabase = databases();
const output = (units: number) => ({ inputTokens: 0, outputTokens: units * unit });

describe.each(dialects)("%s", (dialect) => {
  let clock: ManualClock;
  let url: string;
  let metering: Metering;
  let account: string;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    url = await newDatabase(dialect);
    metering = await openMetering({ clock, url });
    account = await metering.account({ free: 100 * out });
  });
  afterEach(() => clock.until(metering.close()));

  const hold = (tokens: number, core = metering) =>
    clock.until(core.ledger.hold(request(account, output(tokens)), never));
  const spend = async (tokens: number) => {
    const held = await hold(tokens);
    await clock.until(held.settle(output(tokens), "completed"));
    return held;
  };
  const setLine = (tokens: number) => clock.until(metering.funds.setCreditLine(account, tokens * out));
  const come = (kind: "paid" | "grant", tokens: number) =>
    clock.until(metering.funds.credit({ accountId: account, kind, amount: tokens * out, reference: v7() }));
  const lots = () => metering.storage.orm.em.fork().find(Lot, { accountId: account, kind: "credit" });
  /** The money, what is owed and what is left of the line, in units. */
  const money = async () => {
    const { balance, debt, credit } = await metering.funds.statement(account);
    return [balance, debt, credit].map((amount) => Number(amount) / out);
  };
  const prove = async () =>
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
  const refusal = (tokens: number) =>
    hold(tokens).then(
      () => undefined,
      (error: unknown) => readDetail(error)?.reason,
    );

  test("is spent after all money, to the last token, and by no more", async () => {
    await setLine(500);
    expect(await money()).toEqual([100, 0, 500]);
    await spend(300);
    expect(await money()).toEqual([0, 200, 300]);
    expect((await hold(1000)).outputTokens).toBe(300 * unit);
    expect(await refusal(64)).toBe(Reason.BALANCE_HELD);
    await prove();
  });

  test("that is spent refuses as an empty balance does", async () => {
    await setLine(500);
    await spend(600);
    expect(await money()).toEqual([0, 500, 0]);
    expect(await refusal(64)).toBe(Reason.BALANCE_EXHAUSTED);
    await prove();
  });

  test("is repaid by what is bought before anything of it can be spent, and can be drawn again", async () => {
    await setLine(500);
    await spend(400);
    await come("paid", 1000);
    expect(await money()).toEqual([700, 0, 500]);
    await prove();
    await spend(1200);
    expect(await money()).toEqual([0, 500, 0]);
    await come("paid", 100);
    expect(await money()).toEqual([0, 400, 100]);
    await prove();
  });

  test("is not repaid by gifts, which are spent before it", async () => {
    await setLine(500);
    await spend(200);
    await come("grant", 50);
    expect(await money()).toEqual([50, 100, 400]);
    await spend(60);
    expect(await money()).toEqual([0, 110, 390]);
    await prove();
  });

  test("that is raised can be spent at once", async () => {
    await setLine(100);
    await spend(200);
    expect(await refusal(64)).toBe(Reason.BALANCE_EXHAUSTED);
    await setLine(300);
    await spend(200);
    expect(await money()).toEqual([0, 300, 0]);
    await prove();
  });

  test("that falls below what is owed stops spending and takes nothing back", async () => {
    await setLine(500);
    await spend(300);
    await setLine(50);
    expect(await money()).toEqual([0, 200, 0]);
    expect(await refusal(64)).toBe(Reason.BALANCE_EXHAUSTED);
    await come("paid", 300);
    expect(await money()).toEqual([100, 0, 50]);
    await setLine(0);
    await prove();
  });

  test("that is taken away lets running requests finish, and nobody else spends what they leave", async () => {
    await setLine(500);
    const running = await hold(400);
    await setLine(0);
    expect(await refusal(64)).not.toBeUndefined();
    await clock.until(running.settle(output(200), "completed"));
    expect(await refusal(64)).toBe(Reason.BALANCE_EXHAUSTED);
    await clock.pass(400_000);
    expect(await money()).toEqual([0, 100, 0]);
    await prove();
    expect((await lots()).every(({ granted, spent, refunded }) => granted === spent + refunded)).toBe(true);
  });

  test("that is taken away has lapsed by the clock of every core, however slow", async () => {
    await setLine(500);
    const running = await hold(400);
    await setLine(0);
    expect((await lots()).map(({ expiresAt }) => Number(expiresAt))).toEqual([0]);
    await clock.until(running.settle(output(200), "completed"));
  });

  test("pays the prices of the day on which it is drawn", async () => {
    await setLine(1000);
    await spend(200);
    await metering.prices.set(testModel, { input: 200_000, output: 500_000 });
    await spend(100);
    expect(await money()).toEqual([0, 200, 800]);
    await metering.storage.orm.em
      .fork()
      .execute("update lot set created_at = ? where kind = 'credit'", [new Date(Date.now() - 86_400_000)]);
    const versions = async () => new Set((await lots()).map(({ priceVersionId }) => priceVersionId)).size;
    for (let turn = 0; turn < 100 && (await versions()) < 2; turn++) {
      await clock.pass(1000);
    }
    await spend(100);
    expect(await money()).toEqual([0, 400, 600]);
    expect(await versions()).toBe(2);
    await prove();
  });

  test("pays the account's own prices, of its day, too", async () => {
    const own = (discount: number) =>
      setOwnPrices(
        { storage: metering.storage, clock, random: systemRandom },
        { accountId: account, terms: { discount, fixed: new Map() } },
        async () => {},
      );
    await own(5000);
    await setLine(100);
    await spend(100);
    await spend(100);
    expect(await money()).toEqual([0, 50, 50]);
    await own(0);
    await metering.storage.orm.em
      .fork()
      .execute("update lot set created_at = ? where kind = 'credit'", [new Date(Date.now() - 86_400_000)]);
    for (let turn = 0; turn < 100 && (await lots()).length < 2; turn++) {
      await clock.pass(1000);
    }
    await spend(50);
    expect(await money()).toEqual([0, 100, 0]);
    await prove();
  });

  test("pays what an engine makes beyond its cap, and repays that, too", async () => {
    await setLine(100);
    const held = await hold(150);
    await clock.until(held.settle(output(230), "completed"));
    expect(await money()).toEqual([0, 130, 0]);
    await come("paid", 40);
    expect(await money()).toEqual([0, 90, 10]);
    await prove();
  });

  test("lets no refund out while anything is owed on it", async () => {
    await setLine(500);
    await spend(300);
    const refused = await clock
      .until(metering.funds.refund({ accountId: account, amount: out, reference: v7() }))
      .catch((error: unknown) => error);
    expect(readDetail(refused)?.reason).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(String(refused)).toContain("The account owes 5.00 USD");
  });

  test("makes an account no free one as long as anything of it is left", async () => {
    expect((await metering.funds.statement(account)).freeOnly).toBe(true);
    await setLine(100);
    expect((await metering.funds.statement(account)).freeOnly).toBe(false);
    const state = () => clock.until(Promise.resolve(metering.ledger.fundingState(account)));
    expect(await state()).toMatchObject({ freeOnly: false });
    await spend(150);
    expect(await state()).toMatchObject({ freeOnly: false });
  });
});

test("two cores and 200 concurrent requests draw the last token of a line once", async () => {
  const clock = new ManualClock(Date.now());
  const url = await newDatabase("postgresql");
  const cores = [await openMetering({ clock, url }), await openMetering({ clock, url })] as const;
  const account = await cores[0].account();
  await clock.until(cores[0].funds.setCreditLine(account, 5000 * out));
  const round = () =>
    clock.until(
      Promise.allSettled(
        Array.from({ length: 200 }, async (_, at) => {
          const core = cores[at % 2] as Metering;
          const held = await core.ledger.hold(request(account, output(100)), never);
          await held.settle(output(held.outputTokens / unit), "completed");
        }),
      ),
    );
  const line = () => cores[1].funds.statement(account);
  let results = await round();
  // On a busy machine the database may take longer for a lease than the clock gives the requests of a round.
  for (let rounds = 1; rounds < 5 && Number((await line()).credit) >= 64 * 250_000; rounds++) {
    results = await round();
  }
  expect(results.some(({ status }) => status === "rejected")).toBe(true);
  const { balance, debt, credit } = await line();
  expect([balance, debt + credit]).toEqual([0n, BigInt(5000 * out)]);
  expect(Number(credit)).toBeLessThan(64 * 250_000);
  expect(await clock.until(reconcile(cores[0].storage))).toMatchObject({ ok: true });
  for (const core of cores) {
    await clock.until(core.close());
  }
}, 120_000);
