import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { maxPicoUsd } from "#lib/money/money.ts";
import { createFunds } from "#src/money/books/payments/funds.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../../support/reason-of.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, openMetering, request, run, testModel, usd } from "../../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  let metering: Metering;
  const clock = new ManualClock(Date.now());
  afterEach(() => clock.until(metering.close()));

  test("a new account has its free lot; a grant of 0 makes none", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds } = metering;
    const withFree = await funds.statement(await metering.account({ free: usd }));
    expect(withFree).toMatchObject({ balance: BigInt(usd), freeOnly: true, paidTotal: 0n, debt: 0n, held: 0n });
    expect(withFree.lots).toMatchObject([{ kind: "free", granted: usd, remaining: usd, priceVersion: "1" }]);
    expect((await funds.statement(await metering.account())).lots).toEqual([]);
  });

  test("payments are listed newest first, page by page, what went back among them", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds } = metering;
    const account = await metering.account({ free: usd, paid: 5 * usd });
    await metering.account({ paid: usd });
    await clock.pass(1);
    await funds.refund({ accountId: account, amount: 2 * usd, reference: "back" });
    await clock.pass(1);
    await funds.credit({ accountId: account, kind: "grant", amount: usd, reference: "gift" });
    const all = await funds.payments(account, { after: undefined, limit: 10 });
    expect(all.map(({ kind, amount }) => [kind, amount])).toEqual([
      ["grant", usd],
      ["refund", 2 * usd],
      ...(all[2]?.kind === "paid"
        ? [
            ["paid", 5 * usd],
            ["free", usd],
          ]
        : [
            ["free", usd],
            ["paid", 5 * usd],
          ]),
    ]);
    for (const [place, { at, id }] of all.entries()) {
      const rest = await funds.payments(account, { after: `${at.getTime()} ${id}`, limit: 10 });
      expect(rest.map((payment) => payment.id)).toEqual(all.slice(place + 1).map((payment) => payment.id));
    }
  });

  test("the same reference and amount again answers the same; anything else is refused", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds } = metering;
    const account = await metering.account();
    const other = await metering.account();
    const payment = { accountId: account, kind: "paid" as const, amount: 10 * usd, reference: "p-1" };
    const lots = await Promise.all(Array.from({ length: 50 }, () => funds.credit(payment)));
    expect(new Set(lots.map(({ lotId }) => lotId)).size).toBe(1);
    expect((await funds.statement(account)).balance).toBe(10n * BigInt(usd));
    const conflict = Reason.PAYMENT_REFERENCE_CONFLICT;
    expect(await reasonOf(funds.credit({ ...payment, amount: 11 * usd }))).toBe(conflict);
    expect(await reasonOf(funds.credit({ ...payment, accountId: other }))).toBe(conflict);
    expect(await reasonOf(funds.credit({ ...payment, kind: "grant" }))).toBe(conflict);
    expect(await reasonOf(funds.refund({ accountId: account, amount: 10 * usd, reference: "p-1" }))).toBe(conflict);
  });

  test("a payment that races a change of prices pays by the version that is written on its lot", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger, prices, storage } = metering;
    const accountId = await metering.account();
    const racing = Array.from({ length: 4 }, async (_, at) => {
      for (let times = 0; times < 5; times++) {
        await funds.credit({ accountId, kind: "paid", amount: usd, reference: v7() });
        await prices.set(testModel, { input: 1_000_000 + at, output: 1_000_000 + times });
      }
    });
    await clock.until(Promise.all(racing));
    expect(new Set((await funds.statement(accountId)).lots.map((lot) => lot.priceVersion)).size).toBeGreaterThan(1);
    await clock.until(run(ledger, request(accountId, { inputTokens: 9_000_000, outputTokens: 9_000_000 })));
    // Among its rules: a line pays at the price of its lot's version.
    expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [], debtPicoUsd: "0" });
  });

  test("a payment outside the limits is refused with the limit's name", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds } = metering;
    const accountId = await metering.account();
    const pay = (amount: number) => funds.credit({ accountId, kind: "paid", amount, reference: v7() });
    await expect(pay(usd - 1)).rejects.toThrow("at least 1.00 USD (payment minimum)");
    await expect(pay(1000 * usd + 1)).rejects.toThrow("at most 1000.00 USD (payment maximum)");
    await pay(1000 * usd);
    await pay(999 * usd);
    await expect(pay(2 * usd)).rejects.toThrow("2000.00 USD in total (rolling 24-hour limit)");
    await pay(usd);
    clock.jump(86_400_000); // no clock of a core's own opens it
    await expect(pay(usd)).rejects.toThrow("rolling 24-hour limit");
    const dayBefore = new Date(metering.time.now() - 86_400_000);
    await metering.storage.orm.em.fork().nativeUpdate(Payment, { accountId }, { at: dayBefore });
    await pay(1000 * usd);
    await expect(funds.credit({ accountId, kind: "grant", amount: 0.5, reference: v7() })).rejects.toThrow("An amount");
    expect(await reasonOf(funds.credit({ accountId: v7(), kind: "paid", amount: usd, reference: v7() }))).toBe(
      Reason.ACCOUNT_NOT_FOUND,
    );
  });

  test("what an account has paid may reach the last number of 64 bits, and not pass it", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const accountId = await metering.account();
    const pay = (amount: number) => metering.funds.credit({ accountId, kind: "paid", amount, reference: v7() });
    const paid = async () => (await metering.funds.statement(accountId)).paidTotal;
    const most = 2n ** 63n - 1n;
    await metering.storage.orm.em.fork().nativeUpdate(Account, { id: accountId }, { paidTotal: most - BigInt(usd) });
    expect(await reasonOf(pay(usd + 1))).toBe(Reason.INVALID_ARGUMENT);
    expect(await paid()).toBe(most - BigInt(usd));
    await pay(usd);
    expect(await paid()).toBe(most);
    expect((await clock.until(Promise.resolve(metering.ledger.fundingState(accountId)))).paidTotal).toBe(most);
    expect(await reasonOf(pay(usd))).toBe(Reason.INVALID_ARGUMENT);
  });

  test("a day's payments may pass 64 bits, where the limit allows it, and are counted to the last pico-USD", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { storage, ledger, time } = metering;
    const accountId = await metering.account();
    const limits = { minimum: 1n, maximum: maxPicoUsd, rolling24h: 1101n * maxPicoUsd };
    const funds = createFunds({ storage, ledger, limits, clock: time, random: systemRandom });
    const pay = (amount: number) => funds.credit({ accountId, kind: "paid", amount, reference: v7() });
    const payments = Array.from({ length: 1100 }, () => v7());
    await storage.orm.em.fork().insertMany(
      Payment,
      payments.map((id) => ({
        ...{ id, accountId, kind: "paid" as const, amount: Number(maxPicoUsd), reference: id, lotId: id },
        at: new Date(time.now()),
      })),
    );
    await pay(Number(maxPicoUsd) - 1);
    await expect(pay(2)).rejects.toThrow("rolling 24-hour limit");
    await pay(1);
  });

  test("concurrent payments cannot pass the 24-hour limit together", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const accountId = await metering.account();
    const pay = () => metering.funds.credit({ accountId, kind: "paid", amount: 300 * usd, reference: v7() });
    const results = await Promise.allSettled(Array.from({ length: 20 }, pay));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(6);
  });

  test("a refund takes unspent paid money only, newest lot first, once per reference", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger } = metering;
    const account = await metering.account({ free: usd, paid: 10 * usd });
    const { lotId } = await funds.credit({ accountId: account, kind: "paid", amount: 5 * usd, reference: "second" });
    await ledger.fundingState(account); // leases everything
    const refund = { accountId: account, amount: 6 * usd, reference: "r-1" };
    expect(await funds.refund(refund)).toEqual({ lotId });
    expect(await funds.refund(refund)).toEqual({ lotId });
    const statement = await funds.statement(account);
    expect(statement).toMatchObject({ balance: 10n * BigInt(usd), paidTotal: 9n * BigInt(usd) });
    expect(statement.lots.map(({ kind, remaining }) => [kind, remaining])).toEqual([
      ["free", usd],
      ["paid", 9 * usd],
    ]);
    expect(await reasonOf(funds.refund({ accountId: account, amount: 10 * usd, reference: "r-2" }))).toBe(
      Reason.REFUND_EXCEEDS_BALANCE,
    );
    expect((await funds.statement(account)).balance).toBe(10n * BigInt(usd));
  });

  test("a refund leaves what running requests hold", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger } = metering;
    const account = await metering.account({ paid: usd });
    const tokens = { inputTokens: 1_000_000, outputTokens: 2_000_000 }; // 0.70 USD
    const hold = await ledger.hold(request(account, tokens), new AbortController().signal);
    expect((await funds.statement(account)).held).toBe(BigInt(0.7 * usd));
    const tooMuch = funds.refund({ accountId: account, amount: 0.4 * usd, reference: "a" });
    expect(await reasonOf(clock.until(tooMuch))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    await funds.refund({ accountId: account, amount: 0.3 * usd, reference: "b" });
    await clock.until(hold.settle(tokens, "completed"));
    expect((await funds.statement(account)).balance).toBe(0n);
  });

  test("standing changes at once with a top-up and when the paid money is spent", async () => {
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger } = metering;
    const account = await metering.account({ free: usd });
    expect(await ledger.fundingState(account)).toMatchObject({ freeOnly: true, paidTotal: 0n });
    await funds.credit({ accountId: account, kind: "paid", amount: usd, reference: "p" });
    expect(await ledger.fundingState(account)).toMatchObject({ freeOnly: false, paidTotal: BigInt(usd) });
    await clock.until(run(ledger, request(account, { inputTokens: 0, outputTokens: 8_000_000 })));
    expect(await ledger.fundingState(account)).toMatchObject({ freeOnly: true, paidTotal: BigInt(usd) });
    expect((await funds.statement(account)).freeOnly).toBe(true);
  });
});
