import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { bySpending, firstLots, priorities, type SpendingKey, spendingOrder } from "#src/money/model/spending-order.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../databases.ts";
import { openMetering } from "../fixture.ts";

const newDatabase = databases();
const start = Date.parse("2026-01-01T00:00:00Z");

/** Few values, so that every tie occurs. */
const time = fc.integer({ min: 0, max: 3 }).map((day) => start + day * 86_400_000);
const lots = fc.uniqueArray(
  fc.record({
    lotId: fc.uuid({ version: 7 }),
    kind: fc.constantFrom("free", "grant", "paid"),
    expiresAt: fc.option(time, { nil: undefined }),
    createdAt: time,
  }),
  { selector: ({ lotId }) => lotId, minLength: 1, maxLength: 40 },
);

describe.each(dialects)("%s", (dialect) => {
  test("the database and this process put any lots in the same order, and so does the page of the first ones", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const accountId = await metering.account();
    await fc.assert(
      fc.asyncProperty(lots, async (drawn) => {
        const keys = drawn.map(
          (lot): SpendingKey => ({ ...lot, priority: priorities[lot.kind as keyof typeof priorities] }),
        );
        const em = metering.storage.orm.em.fork();
        await em.nativeDelete(Lot, {});
        await em.nativeDelete(Payment, {});
        await em.insertMany(
          Payment,
          drawn.map(({ lotId, kind }) => ({
            ...{ id: lotId, accountId, kind: kind as "free", amount: 1, reference: lotId, lotId, at: new Date(start) },
          })),
        );
        await em.insertMany(
          Lot,
          drawn.map(({ lotId, kind, expiresAt, createdAt }) => ({
            ...{
              id: lotId,
              accountId,
              kind: kind as "free",
              priority: priorities[kind as "free"],
              granted: 1,
              spent: 0,
            },
            ...{ leased: 0, refunded: 0, expired: 0, priceVersionId: 1, paymentId: lotId },
            ...{ createdAt: new Date(createdAt), expiresAt: expiresAt === undefined ? null : new Date(expiresAt) },
          })),
        );
        const expected = keys.toSorted(bySpending).map(({ lotId }) => lotId);
        const sorted = await em.execute<{ id: string }[]>(`select id from lot order by ${spendingOrder}`);
        expect(sorted.map(({ id }) => id)).toEqual(expected);
        const first = await em.execute<{ id: string }[]>(
          `select id from (${firstLots({ account: "?", now: "?", limit: "5" })}) first`,
          [accountId, new Date(start - 1), accountId],
        );
        expect(first.map(({ id }) => id)).toEqual(expected.slice(0, 5));
      }),
      { numRuns: 30 },
    );
    expect(await metering.storage.orm.em.fork().count(Account)).toBe(1);
    await clock.until(metering.close());
  });
});
