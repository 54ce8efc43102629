import { describe, expect, test } from "@jest/globals";
import { wrap } from "@mikro-orm/core";
import { v7 } from "uuid";
import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { maxPicoUsd } from "#lib/money/money.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, openMetering, request, run, testModel, usd } from "../../fixture.ts";

const newDatabase = databases();

/** Some life: payments, refunds, debt, several lots and prices, closed and open slices. */
async function live(dialect: (typeof dialects)[number]): Promise<{ metering: Metering; clock: ManualClock }> {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url: await newDatabase(dialect) });
  const { ledger, funds, prices } = metering;
  for (let at = 0; at < 3; at++) {
    const account = await metering.account({ free: 1_000_000_000, paid: 2 * usd });
    await prices.set(testModel, { input: 300_000 + at, output: 400_000 });
    await funds.credit({ accountId: account, kind: "grant", amount: usd, reference: v7() });
    for (let times = 0; times < 5; times++) {
      await clock.until(run(ledger, request(account, { inputTokens: 1000, outputTokens: 999 })));
    }
    await funds.refund({ accountId: account, amount: usd, reference: v7() });
    await clock.advanceAsync(2000);
  }
  const poor = await metering.account({ free: 40_000_000 });
  const hold = await ledger.hold(request(poor, { inputTokens: 0, outputTokens: 90 }), new AbortController().signal);
  await clock.until(hold.settle({ inputTokens: 0, outputTokens: 170 }, "failed"));
  await funds.credit({ accountId: poor, kind: "paid", amount: usd, reference: v7() });
  return { metering, clock };
}

const sorted = (findings: readonly ReconcileFinding[]) =>
  findings.map(({ rule, row, message }) => [rule, row, message].join(": ")).sort();

describe.each(dialects)("%s", (dialect) => {
  test("proves sound books, with exact totals", async () => {
    const { metering, clock } = await live(dialect);
    const proof = await reconcile(metering.storage);
    expect(proof).toMatchObject({ ok: true, accounts: 4n, receipts: 16n, findings: [], debtPicoUsd: "0" });
    expect(proof.grantedPicoUsd).toBe(String(3_000_000_000 + 10 * usd + 40_000_000));
    const sum = [proof.balancePicoUsd, proof.spentPicoUsd, proof.refundedPicoUsd, proof.expiredPicoUsd];
    expect(String(sum.reduce((total, amount) => total + BigInt(amount), 0n))).toBe(proof.grantedPicoUsd);
    await clock.until(metering.close());
  });

  test("the receipts of open days are proved in parts, and time is left to others between them", async () => {
    const { metering, clock } = await live(dialect);
    const paced = async (size: number) => {
      let times = 0;
      const pace = async () => {
        times++;
      };
      expect(await reconcile(metering.storage, undefined, { size, pace })).toMatchObject({ ok: true, receipts: 16n });
      return times;
    };
    const whole = await paced(16);
    // Six parts instead of one, and for slices the counting, the newest two parts and each of the four before; hours are counted.
    // Receipts of one moment are in one part, so there may be fewer.
    const inSix = await paced(3);
    expect(inSix).toBeGreaterThan(whole + 5);
    expect(inSix).toBeLessThanOrEqual(whole + 5 + 6 + 1);
    const inTwo = await paced(15);
    expect(inTwo).toBeGreaterThan(whole);
    expect(inTwo).toBeLessThanOrEqual(whole + 1 + 1 + 1);
    await clock.until(metering.close());
  });

  test("an empty database is sound", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true, accounts: 0n, grantedPicoUsd: "0" });
    await clock.until(metering.close());
  });

  test("names the rows that were tampered with", async () => {
    const { metering, clock } = await live(dialect);
    const em = metering.storage.orm.em.fork();
    const tampering: [string, string][] = [
      ["a lot is worth", "update lot set granted = granted + 1"],
      ["a lot's refunds", "update lot set refunded = refunded - 1 where refunded > 0"],
      ["a lot's spending", "update lot set spent = spent - 1 where spent > 0"],
      ["a lot has lent", "update lot set leased = leased - 1 where leased > 0"],
      ["a slice has spent", "update slice set spent = spent - 1 where spent > 0"],
      ["a receipt costs", "update usage set cost = cost + 1"],
      ["tokens in its lines", "update usage set input_tokens = input_tokens + 1"],
      ["a line costs its tokens", "update usage_line set input_tokens = input_tokens + 100"],
      ["a line pays at its lot's price", "update usage_line set output_rate = output_rate + 1"],
      ["a receipt costs no more than", "update usage set max_output_rate = max_output_rate - 1"],
      [
        "what is owed for a receipt",
        "update usage set max_output_rate = max_output_rate + 1000000 where shortfall > 0",
      ],
      ["of one account", "update usage_line set lot_id = slice_id"],
      ["an account owes", "update account set debt = debt + 1"],
      ["an account has paid", "update account set paid_total = paid_total + 1"],
      ["a payment is in the lots, but for what is owed of a refund", "update payment set amount = amount + 1"],
      ["top-ups + grants", "update payment set amount = amount + 1 where kind = 'paid'"],
    ];
    for (const [rule, sql] of tampering) {
      await em.execute(sql);
      const { ok, findings } = await reconcile(metering.storage);
      expect(ok).toBe(false);
      expect(findings.map((finding) => finding.rule).join("\n")).toContain(rule);
      expect(findings.find((finding) => finding.rule.includes(rule))?.row).toMatch(/^\w+ \S+$/);
      const inParts = await reconcile(metering.storage, undefined, { size: 3 });
      expect(sorted(inParts.findings)).toEqual(sorted(findings));
      await em.execute(undo(sql));
      expect(await reconcile(metering.storage)).toMatchObject({ ok: true });
    }
    await clock.until(metering.close());
  }, 60_000);

  test("an open slice of an earlier epoch is found, though its core lives", async () => {
    const { metering, clock } = await live(dialect);
    const account = await metering.account({ paid: usd });
    const wanted = request(account, { inputTokens: 1, outputTokens: 1 });
    (await clock.until(metering.ledger.hold(wanted, new AbortController().signal))).release();
    const em = metering.storage.orm.em.fork();
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true });
    await em.execute("update slice set epoch = epoch - 1 where open and account_id = ?", [account]);
    const found = await reconcile(metering.storage);
    expect(found.findings).toMatchObject([{ rule: expect.stringContaining("an open slice belongs to") }]);
    if (dialect === "postgresql") {
      const old = "select id, 0, instance, beats, now() - interval '11 minutes' from core";
      await em.execute(`insert into core (id, epoch, instance, beats, heartbeat_at) ${old}`);
      expect((await reconcile(metering.storage)).findings).toHaveLength(1);
    }
    await em.execute("update slice set epoch = epoch + 1 where open and account_id = ?", [account]);
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true });
    await clock.until(metering.close());
  });

  test("an account's sums may pass 64 bits", async () => {
    const clock = new ManualClock();
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const most = Number(maxPicoUsd);
    const account = await metering.account();
    await metering.funds.credit({ accountId: account, kind: "grant", amount: most, reference: v7() });
    await clock.until(metering.ledger.withFreeReturned(account, async () => {}));
    await copyLots(metering, account, 1100);
    const proof = await reconcile(metering.storage);
    expect(proof).toMatchObject({ ok: true, grantedPicoUsd: String(1101n * maxPicoUsd) });
    expect(1101n * maxPicoUsd).toBeGreaterThan(2n ** 63n);
    await clock.until(metering.close());
  });
});

/** Copies an account's only lot so many times, with its payment and its entry. */
async function copyLots({ storage }: Metering, accountId: string, copies: number): Promise<void> {
  const em = storage.orm.em.fork();
  const [lot, payment] = [await em.findOneOrFail(Lot, { accountId }), await em.findOneOrFail(Payment, { accountId })];
  const entry = await em.findOneOrFail(LotEntry, { lotId: lot.id });
  const ids = Array.from({ length: copies }, () => ({ lotId: v7(), paymentId: v7(), entryId: v7() }));
  await em.insertMany(
    Payment,
    ids.map(({ lotId, paymentId }) => ({ ...wrap(payment).toPOJO(), id: paymentId, reference: paymentId, lotId })),
  );
  await em.insertMany(
    Lot,
    ids.map(({ lotId, paymentId }) => ({ ...wrap(lot).toPOJO(), id: lotId, paymentId, leased: 0, spent: 0 })),
  );
  await em.insertMany(
    LotEntry,
    ids.map(({ lotId, paymentId, entryId }) => ({ ...wrap(entry).toPOJO(), id: entryId, lotId, paymentId })),
  );
}

/** The opposite of a statement above. */
function undo(sql: string): string {
  if (sql.includes("lot_id = slice_id")) {
    return "update usage_line set lot_id = (select lot_id from slice where slice.id = usage_line.slice_id)";
  }
  return sql.replace(/ ([+-]) (\d+)/, (_, sign, amount) => ` ${sign === "+" ? "-" : "+"} ${amount}`);
}
