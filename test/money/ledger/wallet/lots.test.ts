import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../../support/reason-of.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, models, never, openMetering, request, run, testModel, usd } from "../../fixture.ts";

const newDatabase = databases();

/** Pico-USD a token. */
const inRate = 200_000;
const out = 250_000;

describe.each(dialects)("several lots, on %s,", (dialect) => {
  let clock: ManualClock;
  let metering: Metering;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({
      clock,
      url: await newDatabase(dialect),
      bookSize: 2,
      models: models({ id: "dear", price: { input: "2.00", output: "4.00" } }),
    });
  });
  afterEach(() => clock.until(metering.close()));

  const balance = async (account: string) => (await metering.funds.statement(account)).balance;
  const lines = (requestId: string) =>
    metering.storage.orm.em.fork().find(UsageLine, { requestId }, { orderBy: { seq: "asc" } });

  test("are spent free first, then gifts, then paid, the straddling token once", async () => {
    const account = await metering.account({ paid: usd });
    const { funds } = metering;
    await funds.credit({ accountId: account, kind: "grant", amount: 10 * out, reference: v7() });
    await funds.credit({ accountId: account, kind: "free", amount: 10 * out + 1, reference: v7() });
    const wanted = request(account, { inputTokens: 0, outputTokens: 100 });
    await clock.until(run(metering.ledger, wanted));
    expect((await lines(wanted.requestId)).map(({ outputTokens, cost }) => [outputTokens, cost])).toEqual([
      [10, 10 * out + 1],
      [10, 10 * out],
      [80, 80 * out - 1],
    ]);
    const receipt = await metering.storage.orm.em.fork().findOneOrFail(Usage, { requestId: wanted.requestId });
    expect(receipt.cost).toBe(100 * out);
  });

  test("each pay by the price of their own making", async () => {
    const account = await metering.account({ paid: usd });
    await metering.prices.set(testModel, { input: 2 * inRate, output: 2 * out });
    await metering.funds.credit({ accountId: account, kind: "grant", amount: 1000 * 2 * out, reference: v7() });
    const wanted = request(account, { inputTokens: 0, outputTokens: 1500 });
    await clock.until(run(metering.ledger, wanted));
    expect(await lines(wanted.requestId)).toMatchObject([
      { outputTokens: 1000, outputRate: 2 * out, cost: 2000 * out },
      { outputTokens: 500, outputRate: out, cost: 500 * out },
    ]);
  });

  test("money that comes while a request runs never makes it pay more than was held", async () => {
    const account = await metering.account({ paid: usd });
    const hold = await metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 100 }), never);
    await metering.prices.set(testModel, { input: 100 * inRate, output: 100 * out });
    await metering.funds.credit({ accountId: account, kind: "free", amount: 1000 * out, reference: v7() });
    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 100 }, "completed"));
    expect(await balance(account)).toBe(BigInt(usd + 1000 * out - 100 * out));
  });

  test("an expired lot is not spent any more from that moment on, whatever the store is busy with", async () => {
    const account = await metering.account({ paid: usd });
    const poor = await metering.account();
    const expiresAt = new Date(metering.time.now() + 10_000);
    for (const accountId of [account, poor]) {
      await metering.funds.credit({ accountId, kind: "grant", amount: usd, reference: v7(), expiresAt });
      await clock.until(run(metering.ledger, request(accountId, { inputTokens: 10, outputTokens: 10 })));
    }
    await clock.advanceAsync(expiresAt.getTime() - metering.time.now()); // at a stroke: the store has no time to answer
    const wanted = request(account, { inputTokens: 10, outputTokens: 10 });
    await clock.until(run(metering.ledger, wanted));
    const paid = await metering.storage.orm.em.fork().findOneOrFail(Lot, { accountId: account, kind: "paid" });
    expect((await lines(wanted.requestId)).map(({ lotId }) => lotId)).toEqual([paid.id]);
    const refused = metering.ledger.hold(request(poor, { inputTokens: 10, outputTokens: 10 }), never);
    expect(await clock.until(reasonOf(refused))).toBe(Reason.BALANCE_EXHAUSTED);
  });

  test("a warm account pays by its own prices, whatever the price book has forgotten meanwhile", async () => {
    const account = await metering.account({ free: usd });
    const tokens = { inputTokens: 10, outputTokens: 10 };
    await clock.until(run(metering.ledger, request(account, tokens)));
    const hold = await metering.ledger.hold(request(account, tokens), never);
    for (let input = 1; input <= 4; input++) {
      await metering.prices.set("dear", { input, output: input });
      await metering.account({ free: usd }).then((other) => clock.until(run(metering.ledger, request(other, tokens))));
    }
    expect(metering.prices.book.size).toBe(2);
    await clock.until(hold.settle(tokens, "completed"));
    await clock.until(run(metering.ledger, request(account, tokens)));
    expect(await balance(account)).toBe(BigInt(usd - 3 * 10 * (inRate + out)));
    expect(metering.log.join()).not.toContain("not charged");
  });
});
