import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { noJournal } from "#src/money/journal/journal.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../support/reason-of.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, never, openMetering, request, run, testModel, usd } from "../fixture.ts";

const newDatabase = databases();

/** Pico-USD a token. */
const inRate = 200_000;
const out = 250_000;

describe.each(dialects)("%s", (dialect) => {
  let clock: ManualClock;
  let metering: Metering;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
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

  test.each(["", "an-id-of-the-callers-own"])(
    "of an id that waits twice for money one runs, whenever the other gets its turn: %j",
    async (own) => {
      const account = await metering.account({ free: 100 * out });
      const of = (outputTokens: number) => ({ inputTokens: 0, outputTokens });
      const [some, rest] = [
        await clock.until(metering.ledger.hold(request(account, of(60)), never)),
        await clock.until(metering.ledger.hold(request(account, of(40)), never)),
      ];
      const wanted = request(account, of(20), own === "" ? {} : { requestId: own });
      const waiting = [metering.ledger.hold(wanted, never), metering.ledger.hold(wanted, never)];
      const reasons = Promise.all(waiting.map(reasonOf));
      await clock.pass(100);
      await clock.until(some.settle(of(40), "completed"));
      await clock.until((await clock.until(Promise.any(waiting))).settle(of(20), "completed")); // whichever came first
      await clock.pass(500);
      await clock.until(rest.settle(of(10), "completed"));
      expect(new Set(await clock.until(reasons))).toEqual(new Set([undefined, Reason.DUPLICATE_REQUEST]));
      expect(await reasonOf(metering.ledger.hold(wanted, never))).toBe(Reason.DUPLICATE_REQUEST);
    },
  );

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

  test("a store that takes no leases back keeps neither itself nor the journal from being closed", async () => {
    const ends: string[] = [];
    const journal = { ...noJournal, close: async () => void ends.push("journal") };
    await clock.until(metering.close());
    metering = await openMetering({ clock, url: await newDatabase(dialect), journal });
    const { store } = metering;
    const end = store.end.bind(store);
    store.close = () => Promise.reject(new Error("away"));
    store.end = async () => {
      ends.push("store");
      await end();
    };
    const account = await metering.account({ free: usd });
    await clock.until(run(metering.ledger, request(account, { inputTokens: 1, outputTokens: 1 })));
    await expect(clock.until(metering.ledger.close())).rejects.toThrow("away");
    expect(ends).toEqual(["store", "journal"]);
    metering.ledger.close = async () => {};
  });
});
