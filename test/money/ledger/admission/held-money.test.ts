import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../../support/reason-of.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../../fixture.ts";

const newDatabase = databases();

/** Pico-USD an output token. */
const out = 250_000;

describe.each(dialects)("money held by requests of the same account, on %s,", (dialect) => {
  let clock: ManualClock;
  let metering: Metering;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
  });
  afterEach(() => clock.until(metering.close()));
  const all = { inputTokens: 0, outputTokens: 1000 };

  test("is waited for, in the order of coming", async () => {
    const account = await metering.account({ free: 1000 * out });
    const first = await metering.ledger.hold(request(account, all), never);
    const order: string[] = [];
    const second = metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 500 }), never);
    const third = metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 100 }), never);
    void second.then(() => order.push("second"));
    void third.then(() => order.push("third"));
    await clock.advanceAsync(1000);
    expect(order).toEqual([]);
    first.release();
    (await second).release();
    (await third).release();
    expect(order).toEqual(["second", "third"]);
  });

  test("is for the first in line, though the rest would do for one who comes later", async () => {
    const account = await metering.account({ free: 1000 * out });
    const first = await metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 800 }), never);
    const order: string[] = [];
    const asked = (outputTokens: number) => {
      const hold = metering.ledger.hold(request(account, { inputTokens: 0, outputTokens }), never);
      void hold.then(() => order.push(`of ${outputTokens}`));
      return hold;
    };
    const second = asked(500);
    await clock.advanceAsync(100); // it waits
    const third = asked(100);
    await clock.advanceAsync(100);
    expect(order).toEqual([]);
    first.release();
    (await second).release();
    (await third).release();
    expect(order).toEqual(["of 500", "of 100"]);
  });

  test("is waited for at most two seconds, then BALANCE_HELD says when to come again", async () => {
    const account = await metering.account({ free: 1000 * out });
    const first = await metering.ledger.hold(request(account, all), never);
    const second = metering.ledger.hold(request(account, all), never).catch((error: unknown) => error);
    await clock.advanceAsync(1999);
    expect(await Promise.race([second, Promise.resolve("waiting")])).toBe("waiting");
    await clock.advanceAsync(2);
    expect(readDetail(await second)).toMatchObject({ reason: Reason.BALANCE_HELD, retryAfter: { seconds: 1n } });
    first.release();
  });

  test("is not waited for when all of it together would not do", async () => {
    const account = await metering.account({ free: 70 * out });
    const first = await metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 60 }), never);
    const refused = metering.ledger.hold(request(account, { inputTokens: 500, outputTokens: 10 }), never);
    expect(await reasonOf(refused)).toBe(Reason.BALANCE_EXHAUSTED);
    first.release();
  });

  test("a caller that goes away leaves the line", async () => {
    const account = await metering.account({ free: 1000 * out });
    const first = await metering.ledger.hold(request(account, all), never);
    const leaving = new AbortController();
    const second = metering.ledger.hold(request(account, all), leaving.signal);
    const third = metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 10 }), never);
    await clock.advanceAsync(10);
    leaving.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    first.release();
    (await third).release();
  });

  test("a top-up lets those who wait go on", async () => {
    const account = await metering.account({ free: 1000 * out });
    const first = await metering.ledger.hold(request(account, all), never);
    const second = metering.ledger.hold(request(account, all), never);
    await clock.advanceAsync(100);
    await metering.funds.credit({ accountId: account, kind: "paid", amount: usd, reference: v7() });
    (await second).release();
    first.release();
  });
});
