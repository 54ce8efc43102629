import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type Door, startDoor } from "../../../support/door.ts";
import { databases } from "../../databases.ts";
import { type Metering, never, openMetering, request, run, usd } from "../../fixture.ts";

// PostgreSQL does what it is asked, or was never asked, and the core is not told: the connection breaks just then.

const outRate = 250_000;
const newDatabase = databases();

let clock: ManualClock;
let door: Door;
let metering: Metering;
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  door = await startDoor(await newDatabase("postgresql"));
  metering = await openMetering({ clock, url: door.url });
});
afterEach(async () => {
  await clock.until(metering.close());
  await door.shut();
});

const reasonOf = (promise: Promise<unknown>) =>
  clock.until(promise).then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });
/** All of an account with one USD. */
const everything = output(usd / outRate);
const balance = async (account: string) => (await metering.funds.statement(account)).balance;
const openSlices = () => metering.storage.orm.em.fork().count(Slice, { open: true });
const prove = () => clock.until(reconcile(metering.storage, metering.ledger));

/** The statement itself, with its end: the settings of a session speak of commits, too. */
const commit = "commit\0";

/** Leases money of a new account to this core without its knowledge. */
async function leaseUnknown(): Promise<string> {
  const account = await metering.account({ paid: usd });
  const lost = door.lose(commit, "reply");
  expect(await reasonOf(metering.ledger.hold(request(account, output(1)), never))).toBe(Reason.LEDGER_UNAVAILABLE);
  await lost;
  expect(await openSlices()).toBe(1);
  return account;
}

describe("of a lease", () => {
  test("the next request can have all of the money", async () => {
    const account = await leaseUnknown();
    const hold = await clock.until(metering.ledger.hold(request(account, everything), never));
    expect(hold.outputTokens).toBe(everything.outputTokens);
    await clock.until(hold.settle(everything, "completed"));
    expect(await balance(account)).toBe(0n);
    expect(await prove()).toMatchObject({ ok: true, debtPicoUsd: "0" });
  });

  test("all of the money can be refunded", async () => {
    const account = await leaseUnknown();
    await clock.until(metering.funds.refund({ accountId: account, amount: usd, reference: v7() }));
    expect(await balance(account)).toBe(0n);
  });

  test("a warm account's money comes back although nobody asks for it", async () => {
    const account = await metering.account({ paid: usd });
    const hold = await clock.until(metering.ledger.hold(request(account, output(1)), never));
    const lost = door.lose(commit, "reply");
    expect(await reasonOf(metering.ledger.hold(request(account, everything), never))).toBe(Reason.LEDGER_UNAVAILABLE);
    await lost;
    const found = () => metering.log.join().includes("leased without this core's knowledge");
    for (let seconds = 0; seconds < 50 && !found(); seconds++) {
      await clock.pass(1000);
    }
    expect(found()).toBe(true);
    const settled = await clock.until(metering.ledger.hold(request(account, output(usd / outRate - 1)), never));
    settled.release();
    hold.release();
  });

  test("the proof names the slice until the core finds it by itself, within a minute", async () => {
    const account = await metering.account({ paid: usd });
    // As when the server commits after the connection broke and the core has looked.
    await metering.store.acquire([{ accountId: account, least: 5, most: 5 }], clock.now());
    const { ok, findings } = await prove();
    expect(ok).toBe(false);
    expect(findings).toMatchObject([
      { rule: "an open slice is known to the core that leased it", message: "expected closed, found 5 unspent" },
    ]);
    await clock.pass(62_000);
    expect(await prove()).toMatchObject({ ok: true, findings: [] });
    expect(metering.log.join()).toContain("leased without this core's knowledge");
  });
});

describe.each(["request", "reply"] as const)("the %s is lost", (what) => {
  test("of giving money back: it is not out of reach", async () => {
    const account = await metering.account({ paid: usd });
    (await clock.until(metering.ledger.hold(request(account, output(1)), never))).release();
    const refund = { accountId: account, amount: usd, reference: v7() };
    const lost = door.lose("give back", what);
    expect(await reasonOf(metering.funds.refund(refund))).toBe(Reason.LEDGER_UNAVAILABLE);
    await lost;
    await clock.until(metering.funds.refund(refund));
    expect(await balance(account)).toBe(0n);
    expect(await prove()).toMatchObject({ ok: true });
  });

  test("of giving money back to a core that wants it: it is not out of reach", async () => {
    const account = await metering.account({ paid: usd });
    (await clock.until(metering.ledger.hold(request(account, output(1)), never))).release();
    const other = await openMetering({ clock, url: door.url });
    const lost = door.lose("give back", what);
    await other.store.announce(account);
    await clock.until(lost);
    const hold = await clock.until(metering.ledger.hold(request(account, everything), never));
    hold.release();
    await clock.until(other.close());
  });

  test("of closing slices: they are closed", async () => {
    const account = await metering.account({ paid: usd });
    await clock.until(run(metering.ledger, request(account, everything)));
    const lost = door.lose("close", what);
    await clock.until(lost);
    await clock.pass(3000);
    expect(await metering.storage.orm.em.fork().findAll(Lot)).toMatchObject([{ leased: 0, spent: usd }]);
  });

  test("of a charge: it is stored once", async () => {
    const account = await metering.account({ paid: usd });
    const hold = await clock.until(metering.ledger.hold(request(account, output(10)), never));
    const lost = door.lose("settle", what);
    await clock.until(hold.settle(output(10), "completed"));
    await lost;
    expect(await balance(account)).toBe(BigInt(usd - 10 * outRate));
    expect(await prove()).toMatchObject({ ok: true, receipts: 1n });
  });

  test("of a payment or a refund: the same again answers the same, and all of the money can be spent", async () => {
    const account = await metering.account();
    const payment = { accountId: account, kind: "paid" as const, amount: 2 * usd, reference: v7() };
    const paid = door.lose(commit, what);
    await expect(clock.until(metering.funds.credit(payment))).rejects.toThrow();
    await paid;
    await clock.until(metering.funds.credit(payment));
    expect(await balance(account)).toBe(BigInt(2 * usd));
    const refund = { accountId: account, amount: usd, reference: v7() };
    (await clock.until(metering.ledger.hold(request(account, output(1)), never))).release();
    await clock.pass(1000); // nothing of the ledger commits any more
    const refunded = door.lose(commit, what);
    await expect(clock.until(metering.funds.refund(refund))).rejects.toThrow();
    await refunded;
    await clock.until(metering.funds.refund(refund));
    expect(await balance(account)).toBe(BigInt(usd));
    await clock.until(run(metering.ledger, request(account, everything)));
    expect(await balance(account)).toBe(0n);
    expect(await prove()).toMatchObject({ ok: true, refundedPicoUsd: String(usd) });
  });
});

test("a charge that was stored, its reply lost and its slices then given to others, is not made anew", async () => {
  const account = await metering.account({ paid: usd });
  const hold = await clock.until(metering.ledger.hold(request(account, output(10)), never));
  const settle = metering.store.settle.bind(metering.store);
  metering.store.settle = async (charges) => {
    await settle(charges);
    metering.store.settle = settle;
    await metering.store.close(charges.flatMap(({ lines }) => lines.map(({ sliceId }) => sliceId)));
    throw new Error("the reply is lost");
  };
  await clock.until(hold.settle(output(10), "completed"));
  expect(metering.log.join()).not.toContain("after its slices were lost");
  expect(await balance(account)).toBe(BigInt(usd - 10 * outRate));
  await clock.pass(62_000);
  await clock.until(run(metering.ledger, request(account, output(usd / outRate - 10))));
  expect(await balance(account)).toBe(0n);
  expect(await prove()).toMatchObject({ ok: true, debtPicoUsd: "0" });
});
