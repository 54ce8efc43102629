import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../../fixture.ts";

// An account that owes has no free money anywhere: debt is paid before anything else.

const out = 250_000;
const newDatabase = databases();

/** Waits, for at most half a minute of the clock, until an account owes nothing. */
async function debtPaid(clock: ManualClock, { funds }: Metering, account: string): Promise<void> {
  for (let turn = 0; turn < 300 && (await funds.statement(account)).debt > 0n; turn++) {
    await clock.pass(100);
  }
}
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

describe.each(dialects)("%s", (dialect) => {
  let clock: ManualClock;
  let url: string;
  let metering: Metering;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    url = await newDatabase(dialect);
    metering = await openMetering({ clock, url });
  });
  afterEach(() => clock.until(metering.close()));

  const hold = (core: Metering, account: string, tokens: number) =>
    clock.until(core.ledger.hold(request(account, output(tokens)), never));
  const statement = (account: string) => metering.funds.statement(account);
  /** Leaves a debt of 30 tokens while another request holds 50. */
  async function owe(kind: "free" | "paid" = "free"): Promise<{ account: string; other: Hold }> {
    const account = await metering.account(kind === "free" ? { free: 150 * out } : { paid: usd });
    if (kind === "paid") {
      await clock.until(metering.funds.refund({ accountId: account, amount: usd - 150 * out, reference: v7() }));
    }
    const first = await hold(metering, account, 100);
    const other = await hold(metering, account, 50);
    await clock.until(first.settle(output(130), "completed"));
    expect(await statement(account)).toMatchObject({ balance: BigInt(50 * out), debt: BigInt(30 * out) });
    return { account, other };
  }
  const prove = async () =>
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });

  test("is paid as soon as a running request frees money", async () => {
    const { account, other } = await owe();
    other.release();
    await debtPaid(clock, metering, account);
    expect(await statement(account)).toMatchObject({ balance: BigInt(20 * out), debt: 0n });
    await prove();
  });

  test("is paid before the next request gets at the money", async () => {
    const { account, other } = await owe();
    other.release();
    const next = await hold(metering, account, 20);
    expect(await statement(account)).toMatchObject({ balance: BigInt(20 * out), debt: 0n });
    next.release();
  });

  test("lets no request in on the money that it takes", async () => {
    const { account, other } = await owe();
    other.release();
    const reason = await hold(metering, account, 50).then(() => undefined, readDetail);
    expect(reason?.reason).toBe(Reason.BALANCE_EXHAUSTED);
    expect(await statement(account)).toMatchObject({ balance: BigInt(20 * out), debt: 0n });
  });

  test("is paid from a top-up or a gift at once", async () => {
    const { account, other } = await owe();
    await clock.until(metering.funds.credit({ accountId: account, kind: "grant", amount: 10 * out, reference: v7() }));
    expect(await statement(account)).toMatchObject({ balance: BigInt(50 * out), debt: BigInt(20 * out) });
    await clock.until(metering.funds.credit({ accountId: account, kind: "paid", amount: usd, reference: v7() }));
    expect(await statement(account)).toMatchObject({ balance: BigInt(usd + 30 * out), debt: 0n });
    other.release();
    await prove();
  });

  test("is paid before a refund, which is refused with the reason while it is not", async () => {
    const { account, other } = await owe("paid");
    const refund = (amount: number) =>
      clock.until(metering.funds.refund({ accountId: account, amount, reference: v7() }));
    const refused = await refund(10 * out).catch((error: unknown) => error);
    expect(readDetail(refused)?.reason).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(String(refused)).toContain("The account owes 0.0000075 USD, which is paid before anything is refunded.");
    other.release();
    const exceeding = await refund(21 * out).catch(readDetail);
    expect(exceeding).toMatchObject({ reason: Reason.REFUND_EXCEEDS_BALANCE });
    expect(await statement(account)).toMatchObject({ balance: BigInt(20 * out), debt: 0n });
    await refund(20 * out);
    expect(await statement(account)).toMatchObject({ balance: 0n, debt: 0n });
    await prove();
  });

  test("that nobody knows of is found and paid within a minute", async () => {
    const account = await metering.account({ paid: usd });
    const em = metering.storage.orm.em.fork();
    await em.execute("update account set debt = 5 where id = ?", [account]);
    await clock.pass(61_000);
    await debtPaid(clock, metering, account);
    expect(await statement(account)).toMatchObject({ balance: BigInt(usd - 5), debt: 0n });
  });
});

test("what another core frees pays the debt", async () => {
  const clock = new ManualClock(Date.now());
  const url = await newDatabase("postgresql");
  const [one, other] = [await openMetering({ clock, url }), await openMetering({ clock, url })];
  const account = await one.account({ free: 150 * out });
  const there = await clock.until(other.ledger.hold(request(account, output(50)), never));
  await one.store.announce(account); // the other one gives back what it does not hold
  await clock.pass(500);
  const here = await clock.until(one.ledger.hold(request(account, output(100)), never));
  await clock.until(here.settle(output(130), "completed"));
  expect(await one.funds.statement(account)).toMatchObject({ debt: BigInt(30 * out) });
  await clock.pass(1000);
  there.release();
  await debtPaid(clock, one, account);
  expect(await one.funds.statement(account)).toMatchObject({ balance: BigInt(20 * out), debt: 0n });
  expect(await reconcile(one.storage, one.ledger)).toMatchObject({ ok: true });
  await clock.until(one.close());
  await clock.until(other.close());
});
