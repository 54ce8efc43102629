import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering, request, run, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("money of another account, kind or payment than it came from is found, also without receipts", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { storage, ledger, funds } = metering;
    const accountId = await metering.account({ free: usd, paid: 2 * usd });
    const other = await metering.account({ paid: usd });
    const keyId = await storeKey(metering, accountId);
    const budget = { id: keyId, limit: usd, period: "total" } as const;
    await clock.until(run(ledger, request(accountId, { inputTokens: 100, outputTokens: 100 }, { keyId, budget })));
    await funds.refund({ accountId, amount: usd, reference: v7() });
    const em = storage.orm.em.fork();
    const prove = async () => {
      const { findings } = await reconcile(storage);
      return findings.map(({ rule, row }) => `${rule}: ${row.split(" ")[0]}`);
    };
    expect(await prove()).toEqual([]);
    const [lot] = await em.execute<{ id: string }[]>("select id from lot where account_id = ?", [other]);
    const [slice] = await em.execute<{ id: string }[]>("select id from slice where account_id = ?", [accountId]);
    const [refund] = await em.execute<{ id: string; lot_id: string }[]>(
      "select id, lot_id from payment where kind = 'refund'",
    );
    const tampering = [
      ["the kind of its payment", "lot", "update lot set kind = ? where id = ?", "grant", "paid", lot?.id],
      ["the order of that kind", "lot", "update lot set priority = ? where id = ?", 10, 50, lot?.id],
      [
        "a payment names a lot",
        "payment",
        "update payment set lot_id = ? where id = ?",
        v7(),
        refund?.lot_id,
        refund?.id,
      ],
      ["a slice is of", "slice", "update slice set account_id = ? where id = ?", other, accountId, slice?.id],
      ["a budget is of", "budget", "update budget set account_id = ? where id = ?", other, accountId, keyId],
    ] as const;
    for (const [rule, table, sql, wrong, right, id] of tampering) {
      await em.execute(sql, [wrong, id]);
      expect(await prove()).toContainEqual(expect.stringMatching(new RegExp(`${rule}.*: ${table}$`)));
      await em.execute(sql, [right, id]);
      expect(await prove()).toEqual([]);
    }
    await clock.until(metering.close());
  });

  test("a refund that no credit had anything left for is owed, and proves", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { storage, ledger, funds } = metering;
    const accountId = await metering.account({ paid: usd });
    await clock.until(run(ledger, request(accountId, { inputTokens: 0, outputTokens: 4_000_000 })));
    await clock.until(funds.refund({ accountId, amount: usd, reference: v7(), intoDebt: true }));
    expect(await funds.statement(accountId)).toMatchObject({ balance: 0n, debt: BigInt(usd) });
    expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });
});
