import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import { readOwnPrices, setOwnPrices } from "#src/money/prices/own-prices.ts";
import { listPaidPrices } from "#src/money/prices/paid-prices.ts";
import { OwnPrices } from "#src/storage/entities/metering/own-prices.ts";
import { UsageLine } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, models, openMetering, request, run, testModel, usd } from "../fixture.ts";

const newDatabase = databases();
const nothing: OwnTerms = { discount: 0, fixed: new Map() };
const less = (discount: number, fixed: OwnTerms["fixed"] = new Map()): OwnTerms => ({ discount, fixed });

test("what a discount takes off is rounded down to a whole pico-USD", () => {
  expect(ownRates({ input: 1, output: 19 }, less(1500), testModel)).toEqual({ input: 1, output: 17 });
  expect(ownRates({ input: 1_000_000_000, output: 0 }, less(9999), testModel)).toEqual({ input: 100_000, output: 0 });
});

describe.each(dialects)("%s", (dialect) => {
  let metering: Metering;
  const clock = new ManualClock(Date.now());
  afterEach(() => clock.until(metering.close()));

  const start = async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect), models: models({ id: "other" }) });
    return metering;
  };
  const set = (accountId: string, terms: OwnTerms) =>
    setOwnPrices(
      { storage: metering.storage, clock: metering.time, random: systemRandom },
      { accountId, terms },
      async () => {},
    );
  const pay = (accountId: string, kind: "paid" | "grant" = "paid") =>
    metering.funds.credit({ accountId, kind, amount: usd, reference: v7() });
  /** The rates that a request pays. */
  const charge = async (accountId: string, tokens: number, model = testModel) => {
    const wanted = request(accountId, { inputTokens: tokens, outputTokens: tokens }, { model });
    await clock.until(run(metering.ledger, wanted));
    const em = metering.storage.orm.em.fork();
    const lines = await em.find(UsageLine, { requestId: wanted.requestId }, { orderBy: { seq: "asc" } });
    return [...new Set(lines.map(({ inputRate, outputRate }) => `${inputRate} ${outputRate}`))];
  };
  const broken = async () => {
    const { findings } = await reconcile(metering.storage);
    return findings.map(({ rule }) => rule);
  };

  test("money pays by the own prices of the moment it came in, and other money by none", async () => {
    const { funds, storage, prices } = await start();
    const account = await metering.account({ free: usd });
    await pay(account);
    await set(account, less(1500, new Map([["other", { input: 7, output: 9 }]])));
    await pay(account);
    await pay(account, "grant");
    await set(account, nothing);
    await pay(account);
    const { lots } = await funds.statement(account);
    expect(lots.map(({ kind, ownPrices }) => [kind, ownPrices])).toEqual([
      ["free", undefined],
      ["grant", undefined],
      ["paid", undefined],
      ["paid", { number: 1, discount: 1500 }],
      ["paid", undefined],
    ]);
    const paid = await listPaidPrices(storage, prices.book, "other");
    expect(paid.map(({ inputPicoUsdPerToken, lots }) => [inputPicoUsdPerToken, lots])).toEqual([
      [200_000n, 4n],
      [7n, 1n],
    ]);
    const own = await listPaidPrices(storage, prices.book, testModel);
    expect(
      own.map(({ inputPicoUsdPerToken, outputPicoUsdPerToken }) => [inputPicoUsdPerToken, outputPicoUsdPerToken]),
    ).toEqual([
      [200_000n, 250_000n],
      [170_000n, 212_500n],
    ]);
  });

  test("a request is charged at each lot's own rates, which the proof holds to", async () => {
    await start();
    const account = await metering.account();
    await set(account, less(1500, new Map([["other", { input: 7, output: 9 }]])));
    await pay(account);
    await set(account, less(5000));
    await pay(account);
    expect(await charge(account, 1000)).toEqual(["170000 212500"]);
    expect(await charge(account, 1000, "other")).toEqual(["7 9"]);
    expect(await charge(account, 3_000_000)).toEqual(["170000 212500", "100000 125000"]);
    expect(await broken()).toEqual([]);
    await metering.storage.orm.em.fork().execute("update own_prices set discount = 1600 where number = 1");
    expect(await broken()).toContainEqual(expect.stringMatching(/^a line pays at its lot's price/));
  });

  test("the proof names a lot by another account's own prices, or by older ones than earlier money has", async () => {
    await start();
    const [one, other] = [await metering.account(), await metering.account()];
    await set(one, less(100));
    await set(one, less(200));
    await pay(one);
    await metering.prices.set(testModel, { input: 1, output: 2 });
    await pay(one);
    await set(other, less(300));
    await pay(other);
    expect(await broken()).toEqual([]);
    const em = metering.storage.orm.em.fork();
    const number = (of: number) => `(select id from own_prices where account_id = '${one}' and number = ${of})`;
    await em.execute(`update lot set own_prices_id = ${number(1)} where account_id = ? and price_version_id = 2`, [
      one,
    ]);
    await em.execute(`update lot set own_prices_id = ${number(2)} where account_id = ?`, [other]);
    expect((await broken()).sort()).toEqual([
      "a lot has no older own prices than money that came in at an older price version",
      "the own prices of a lot are those of its account",
    ]);
  });

  test("money that a refund took and brings back keeps its own prices; gifts cannot have any", async () => {
    const { funds, storage } = await start();
    const account = await metering.account();
    await set(account, less(1500));
    await pay(account);
    await funds.refund({ accountId: account, amount: usd, reference: "back" });
    await set(account, nothing);
    await funds.credit({ accountId: account, kind: "paid", amount: usd, reference: "again", undoes: "back" });
    const { lots } = await funds.statement(account);
    expect(lots).toMatchObject([{ ownPrices: { number: 1, discount: 1500 } }]);
    await expect(storage.orm.em.fork().execute("update lot set kind = 'grant'")).rejects.toThrow(/lot_own_prices/);
  });

  test("the same terms again set nothing, and an account that is not there has none", async () => {
    await start();
    const account = await metering.account();
    await set(account, nothing);
    await set(account, less(1500, new Map([["other", { input: 7, output: 9 }]])));
    await set(account, less(1500, new Map([["other", { input: 7, output: 9 }]])));
    const em = metering.storage.orm.em.fork();
    expect(await em.count(OwnPrices)).toBe(1);
    expect(await readOwnPrices(em, account)).toMatchObject({ number: 1, discount: 1500 });
    await set(account, nothing);
    expect(await readOwnPrices(metering.storage.orm.em.fork(), account)).toBeUndefined();
    await expect(set(v7(), less(1))).rejects.toThrow("There is no account");
  });
});
