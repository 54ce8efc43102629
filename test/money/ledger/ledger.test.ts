import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../support/reason-of.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, models, never, openMetering, request, run, testModel, usd } from "../fixture.ts";

const newDatabase = databases();

/** Pico-USD a token. */
const inRate = 200_000;
const out = 250_000;

describe.each(dialects)("%s", (dialect) => {
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
  const receipt = (requestId: string) => metering.storage.orm.em.fork().findOneOrFail(Usage, { requestId });
  const lines = (requestId: string) =>
    metering.storage.orm.em.fork().find(UsageLine, { requestId }, { orderBy: { seq: "asc" } });

  test("charges exactly tokens times rates and leaves the rest", async () => {
    const account = await metering.account({ free: usd });
    const wanted = request(account, { inputTokens: 1000, outputTokens: 500 }, { keyId: "key" });
    const hold = await metering.ledger.hold(wanted, never);
    expect(hold.outputTokens).toBe(500);
    expect(metering.ledger.held(account)).toBe(1000 * inRate + 500 * out);
    await clock.until(hold.settle({ inputTokens: 900, outputTokens: 100 }, "completed"));
    const cost = 900 * inRate + 100 * out;
    expect(await balance(account)).toBe(BigInt(usd - cost));
    expect(metering.ledger.held(account)).toBe(0);
    expect(await receipt(wanted.requestId)).toMatchObject({
      accountId: account,
      keyId: "key",
      model: testModel,
      inputTokens: 900,
      outputTokens: 100,
      cost,
      shortfall: 0,
      status: "completed",
    });
    expect(await lines(wanted.requestId)).toMatchObject([
      { seq: 0, inputTokens: 900, outputTokens: 100, inputRate: inRate, outputRate: out, cost },
    ]);
  });

  test("a released hold costs nothing and leaves no receipt", async () => {
    const account = await metering.account({ free: usd });
    const wanted = request(account, { inputTokens: 1000, outputTokens: 500 });
    (await metering.ledger.hold(wanted, never)).release();
    expect(metering.ledger.held(account)).toBe(0);
    expect(await metering.storage.orm.em.fork().findOne(Usage, { requestId: wanted.requestId })).toBeNull();
    expect(await balance(account)).toBe(BigInt(usd));
  });

  test("a hold ends once", async () => {
    const account = await metering.account({ free: usd });
    const hold = await metering.ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never);
    hold.release();
    expect(() => hold.release()).toThrow("already ended");
    expect(() => hold.settle({ inputTokens: 1, outputTokens: 1 }, "completed")).toThrow("already ended");
  });

  test("the engine's count of the prompt frees what the bound held too much", async () => {
    const account = await metering.account({ free: usd });
    const hold = await metering.ledger.hold(request(account, { inputTokens: 1000, outputTokens: 10 }), never);
    hold.progress({ inputTokens: 100, outputTokens: 0 });
    expect(metering.ledger.held(account)).toBe(100 * inRate + 10 * out);
    hold.progress({ inputTokens: 100, outputTokens: 5 });
    expect(metering.ledger.held(account)).toBe(100 * inRate + 10 * out);
    hold.release();
  });

  describe("a short balance", () => {
    test("lowers the output cap, after the prompt was counted exactly", async () => {
      const account = await metering.account({ free: 100 * inRate + 300 * out });
      const wanted = request(account, { inputTokens: 2000, outputTokens: 1000 }, { countInput: async () => 100 });
      const hold = await metering.ledger.hold(wanted, never);
      expect(hold.outputTokens).toBe(300);
      await clock.until(hold.settle({ inputTokens: 100, outputTokens: 300 }, "completed"));
      expect(await balance(account)).toBe(0n);
      expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never))).toBe(
        Reason.BALANCE_EXHAUSTED,
      );
    });

    test("is spendable down to less than the price of 64 tokens", async () => {
      const account = await metering.account({ free: 64 * out });
      const hold = await metering.ledger.hold(request(account, { inputTokens: 10, outputTokens: 1000 }), never);
      expect(hold.outputTokens).toBe(56);
      await clock.until(hold.settle({ inputTokens: 10, outputTokens: 1 }, "completed"));
      expect(
        await reasonOf(metering.ledger.hold(request(account, { inputTokens: 10, outputTokens: 1000 }), never)),
      ).toBe(Reason.BALANCE_EXHAUSTED);
      // What fits whole is still let in.
      await clock.until(run(metering.ledger, request(account, { inputTokens: 10, outputTokens: 10 })));
    });

    test("that does not cover the prompt is exhausted, and so is one of nothing", async () => {
      const account = await metering.account({ free: 100 * inRate });
      const refused = metering.ledger.hold(request(account, { inputTokens: 200, outputTokens: 10 }), never);
      await expect(refused).rejects.toThrow("does not cover this prompt");
      const empty = await metering.account();
      expect(await reasonOf(metering.ledger.hold(request(empty, { inputTokens: 1, outputTokens: 1 }), never))).toBe(
        Reason.BALANCE_EXHAUSTED,
      );
    });

    test("refuses embeddings that it does not cover", async () => {
      const account = await metering.account({ free: 100 * inRate });
      expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 101, outputTokens: 0 }), never))).toBe(
        Reason.BALANCE_EXHAUSTED,
      );
      const hold = await metering.ledger.hold(
        request(account, { inputTokens: 101, outputTokens: 0 }, { countInput: async () => 100 }),
        never,
      );
      expect(hold.outputTokens).toBe(0);
      hold.release();
    });
  });

  describe("money held by requests of the same account", () => {
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

  test("200 concurrent requests for the last cent spend no more than the balance", async () => {
    const account = await metering.account({ free: usd / 100 });
    const tokens = { inputTokens: 1000, outputTokens: 1000 };
    let charged = 0;
    const attempt = async () => {
      const hold = await metering.ledger.hold(request(account, tokens), never);
      await hold.settle({ inputTokens: 1000, outputTokens: hold.outputTokens }, "completed");
      charged += 1000 * inRate + hold.outputTokens * out;
    };
    const results = await clock.until(Promise.allSettled(Array.from({ length: 200 }, attempt)));
    expect(charged).toBeLessThanOrEqual(usd / 100);
    expect(await balance(account)).toBe(BigInt(usd / 100 - charged));
    expect(results.filter((result) => result.status === "fulfilled").length).toBeGreaterThanOrEqual(22);
  });

  test("a wall clock that jumps costs nobody anything", async () => {
    const account = await metering.account({ free: usd });
    const tokens = { inputTokens: 10, outputTokens: 10 };
    const wanted = request(account, tokens);
    const hold = await metering.ledger.hold(wanted, never);
    clock.jump(3_600_000);
    await clock.advanceAsync(2000);
    await clock.until(run(metering.ledger, request(account, tokens)));
    clock.jump(-7_200_000);
    await clock.advanceAsync(2000);
    await clock.until(run(metering.ledger, request(account, tokens)));
    await clock.until(hold.settle(tokens, "completed"));
    expect(await reasonOf(metering.ledger.hold(wanted, never))).toBe(Reason.DUPLICATE_REQUEST);
    expect(await balance(account)).toBe(BigInt(usd - 3 * 10 * (inRate + out)));
    expect(metering.log.join()).not.toContain("slices were lost");
  });

  describe("exactly once", () => {
    test("an id that runs, was charged just now or long ago is refused; a released one may come again", async () => {
      const account = await metering.account({ free: usd });
      const tokens = { inputTokens: 10, outputTokens: 10 };
      for (const requestId of [request(account, tokens).requestId, "an-id-of-the-callers-own"]) {
        const wanted = request(account, tokens, { requestId });
        (await metering.ledger.hold(wanted, never)).release();
        const hold = await metering.ledger.hold(wanted, never);
        expect(await reasonOf(metering.ledger.hold(wanted, never))).toBe(Reason.DUPLICATE_REQUEST);
        await clock.until(hold.settle(tokens, "completed"));
        expect(await reasonOf(metering.ledger.hold(wanted, never))).toBe(Reason.DUPLICATE_REQUEST);
        await clock.pass(60_000);
        expect(await reasonOf(metering.ledger.hold(wanted, never))).toBe(Reason.DUPLICATE_REQUEST);
      }
    });
  });

  test("an id counts within its account: others may use it, at the same time and later", async () => {
    const [first, second] = [await metering.account({ free: usd }), await metering.account({ free: usd })];
    const tokens = { inputTokens: 10, outputTokens: 10 };
    for (const requestId of [request(first, tokens).requestId, "an-id-of-both"]) {
      const holds = [];
      for (const account of [first, second]) {
        holds.push(await metering.ledger.hold(request(account, tokens, { requestId }), never));
      }
      await clock.until(Promise.all(holds.map((hold) => hold.settle(tokens, "completed"))));
      const receipts = await metering.storage.orm.em.fork().find(Usage, { requestId });
      expect(receipts.map(({ accountId }) => accountId).sort()).toEqual([first, second]);
      await clock.pass(60_000);
      const third = await metering.account({ free: usd });
      await clock.until(run(metering.ledger, request(third, tokens, { requestId })));
    }
    expect([await balance(first), await balance(second)]).toEqual(Array(2).fill(BigInt(usd - 20 * (inRate + out))));
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

  describe("several lots", () => {
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
      expect((await receipt(wanted.requestId)).cost).toBe(100 * out);
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
  });

  test("more than was held is taken from free money, and what is not there is owed and paid first later", async () => {
    const account = await metering.account({ free: 200 * out });
    const wanted = request(account, { inputTokens: 0, outputTokens: 100 });
    const hold = await metering.ledger.hold(wanted, never);
    const other = await metering.ledger.hold(request(account, { inputTokens: 0, outputTokens: 50 }), never);
    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 180 }, "completed"));
    expect(await receipt(wanted.requestId)).toMatchObject({ cost: 180 * out, shortfall: 30 * out });
    expect(metering.log.join()).toContain("cost more than could be held");
    await clock.until(other.settle({ inputTokens: 0, outputTokens: 50 }, "completed"));
    expect(await metering.funds.statement(account)).toMatchObject({ balance: 0n, debt: BigInt(30 * out) });
    await metering.funds.credit({ accountId: account, kind: "paid", amount: usd, reference: v7() });
    expect(await metering.funds.statement(account)).toMatchObject({ balance: BigInt(usd - 30 * out), debt: 0n });
  });

  test("a warm account is admitted without asking the store, however many requests it makes", async () => {
    const account = await metering.account({ paid: 1000 * usd });
    for (let times = 0; times < 20; times++) {
      await clock.until(run(metering.ledger, request(account, { inputTokens: 1000, outputTokens: 500 })));
    }
    const asked: string[] = [];
    for (const name of ["acquire", "settled"] as const) {
      const ask = metering.store[name].bind(metering.store) as (...all: unknown[]) => Promise<never>;
      metering.store[name] = (...all: unknown[]) => {
        asked.push(name);
        return ask(...all);
      };
    }
    for (let times = 0; times < 20; times++) {
      let admitted = false;
      const holding = metering.ledger.hold(request(account, { inputTokens: 1000, outputTokens: 500 }), never);
      void holding.then(() => {
        admitted = true;
      });
      await Promise.resolve();
      await Promise.resolve();
      expect(admitted).toBe(true); // within the same turn: nothing outside of this process was waited for
      await clock.until((await holding).settle({ inputTokens: 1000, outputTokens: 500 }, "completed"));
    }
    expect(asked.filter((name) => name === "settled")).toEqual([]);
  });

  test("a closing ledger takes nothing new and gives its leases back", async () => {
    const account = await metering.account({ free: usd });
    const hold = await metering.ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never);
    const settled = hold.settle({ inputTokens: 1, outputTokens: 1 }, "completed");
    await metering.ledger.close();
    await settled;
    expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never))).toBe(
      Reason.SHUTTING_DOWN,
    );
    expect(await metering.storage.orm.em.fork().findAll(Lot)).toMatchObject([{ leased: 0, spent: inRate + out }]);
  });
});
