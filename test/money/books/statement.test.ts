import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import type { LotStatement } from "#src/money/model/payments.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { readPlans, readsWholeTable } from "../../support/plans.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, openMetering, request, run, usd } from "../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  let metering: Metering;
  let clock: ManualClock;
  afterEach(() => clock.until(metering.close()));

  /** All lots of an account, read in pages of two. */
  async function readAllLots(accountId: string): Promise<LotStatement[]> {
    const all: LotStatement[] = [];
    for (;;) {
      const page = await metering.funds.lots(accountId, { after: all.at(-1)?.id, limit: 2 });
      expect(page.length).toBeLessThanOrEqual(2);
      if (page.length === 0) {
        return all;
      }
      all.push(...page);
    }
  }

  test("spent lots are left out of a statement, and listed among all lots, oldest first", async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger, time } = metering;
    const accountId = await metering.account();
    const other = await metering.account({ free: usd });
    const credit = async (kind: "free" | "grant" | "paid", amount: number, expiresAt?: Date) =>
      (await funds.credit({ accountId, kind, amount, reference: v7(), ...(expiresAt ? { expiresAt } : {}) })).lotId;
    const refunded = await credit("paid", usd);
    await funds.refund({ accountId, amount: usd, reference: v7() });
    const paid = await credit("paid", 2 * usd);
    const lapsing = await credit("grant", usd, new Date(time.now() + 1000));
    const spent = await credit("free", 10 * 250_000);
    await clock.until(run(ledger, request(accountId, { inputTokens: 0, outputTokens: 10 })));
    const last = await credit("grant", 20 * 250_000);
    await clock.until(
      ledger.hold(request(accountId, { inputTokens: 0, outputTokens: 15 }), AbortSignal.timeout(60_000)),
    );

    const { lots, balance } = await funds.statement(accountId);
    expect(lots.map(({ id }) => id)).toEqual([lapsing, last, paid]);
    const all = await readAllLots(accountId);
    expect(all.map(({ id, remaining }) => ({ id, remaining }))).toEqual([
      { id: refunded, remaining: 0 },
      { id: paid, remaining: 2 * usd },
      { id: lapsing, remaining: usd },
      { id: spent, remaining: 0 },
      { id: last, remaining: 20 * 250_000 },
    ]);
    expect(all.filter(({ remaining }) => remaining > 0)).toEqual(expect.arrayContaining([...lots]));
    expect(all.reduce((sum, { remaining }) => sum + BigInt(remaining), 0n)).toBe(balance);
    expect(await readAllLots(other)).toEqual((await funds.statement(other)).lots);
    expect(await readAllLots(v7())).toEqual([]);
  });

  test("statements of many accounts are what each alone is, in as many queries as for one", async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger, storage } = metering;
    const [rich, poor, spender, empty] = await Promise.all([
      metering.account({ free: usd, paid: 3 * usd }),
      metering.account({ free: usd }),
      metering.account({ free: 10 * 250_000 }),
      metering.account(),
    ]);
    await funds.credit({ accountId: poor, kind: "grant", amount: usd, reference: v7() });
    await clock.until(run(ledger, request(spender, { inputTokens: 0, outputTokens: 10 })));
    await clock.until(ledger.hold(request(rich, { inputTokens: 0, outputTokens: 15 }), AbortSignal.timeout(60_000)));

    const ids = [rich, poor, spender, empty];
    const many = await funds.statements([...ids, v7()]);
    expect([...many.keys()].toSorted()).toEqual(ids.toSorted());
    for (const id of ids) {
      expect({ id, ...many.get(id) }).toEqual({ id, ...(await funds.statement(id)) });
    }
    const plans = await readPlans(storage, () => funds.statements(ids));
    expect(plans).toHaveLength(6);
    expect(plans.filter(readsWholeTable)).toEqual([]);
    expect(await readPlans(storage, () => funds.statements([rich]))).toHaveLength(6);
    const pages = await readPlans(storage, () => funds.lots(rich, { after: undefined, limit: 2 }));
    expect(pages.filter(readsWholeTable)).toEqual([]);
  });
});
