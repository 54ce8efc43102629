import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { Budget } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { never, openMetering, request, run, usd } from "../../fixture.ts";
import { out, output } from "./key-budget.ts";

// Calls that move a budget's money whose replies are lost, or which the store carries out late, or twice.

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  async function open() {
    const clock = new ManualClock(Date.now());
    /** What becomes of the next call of this name: done without a reply, or done only when `late` is called. */
    const fates = new Map<string, "no reply" | "late">();
    const late: (() => Promise<unknown>)[] = [];
    const wrap = (store: LedgerStore) => {
      for (const name of ["acquireBudget", "giveBackBudgets", "giveBack"] as const) {
        const call = (store[name] as (...parameters: unknown[]) => Promise<unknown>).bind(store);
        store[name] = (async (...parameters: unknown[]) => {
          const fate = fates.get(name);
          fates.delete(name);
          if (fate === "late") {
            late.push(() => call(...parameters));
            throw new Error("no reply");
          }
          const answer = await call(...parameters);
          if (fate === "no reply") {
            throw new Error("no reply");
          }
          return answer;
        }) as never;
      }
      return store;
    };
    const metering = await openMetering({ clock, url: await newDatabase(dialect), wrap });
    const accountId = await metering.account({ paid: 10 * usd });
    const budget: Budget = { id: v7(), limit: 1000 * out, period: "total" };
    const reasonOf = (tokens: number, under = budget) =>
      clock.until(metering.ledger.hold(request(accountId, output(tokens), { budget: under }), never)).then(
        (hold) => hold.outputTokens,
        (error: unknown) => Reason[readDetail(error)?.reason ?? 0],
      );
    return { clock, fates, late, metering, accountId, budget, reasonOf };
  }

  test.each(["no reply", "late"] as const)(
    "a lease with %s tells nobody that the budget is spent: the next request has all of it",
    async (fate) => {
      const { fates, late, reasonOf, clock, metering, budget, accountId } = await open();
      fates.set("acquireBudget", fate);
      expect(await reasonOf(100)).toBe("LEDGER_UNAVAILABLE");
      await clock.until(run(metering.ledger, request(accountId, output(900), { budget })));
      await Promise.all(late.map((carryOut) => clock.until(carryOut())));
      await clock.until(run(metering.ledger, request(accountId, output(100), { budget })));
      expect(await reasonOf(1)).toBe("BUDGET_EXHAUSTED");
      await clock.until(metering.ledger.close());
      expect(await reconcile(metering.storage)).toMatchObject({ ok: true, findings: [] });
    },
  );

  test.each(["no reply", "late"] as const)(
    "money of a budget that goes back with %s is out of reach for nobody, and never passes the limit",
    async (fate) => {
      const { fates, late, reasonOf, clock, metering, budget, accountId } = await open();
      await clock.until(run(metering.ledger, request(accountId, output(100), { budget })));
      fates.set("giveBackBudgets", fate);
      await clock.until(metering.ledger.callIn(accountId)); // gives back all that is free
      await clock.until(
        metering.store.budgetSpending({
          budgetId: budget.id,
          windowName: "total",
          windowStart: 0,
          windowEnd: undefined,
          limit: budget.limit,
        }),
      );
      const hold = await clock.until(metering.ledger.hold(request(accountId, output(900), { budget }), never));
      expect(hold.outputTokens).toBe(900);
      await Promise.all(late.map((carryOut) => clock.until(carryOut())));
      expect(await reasonOf(1)).toMatch(/^BUDGET_/);
      await clock.until(hold.settle(output(900), "completed"));
      expect(await reasonOf(1)).toBe("BUDGET_EXHAUSTED");
      await clock.until(metering.ledger.close());
      expect(await reconcile(metering.storage)).toMatchObject({ ok: true, findings: [] });
    },
  );

  test("money that goes back late, beside what a request holds, makes no dead letter of its charge", async () => {
    const { fates, late, clock, metering, accountId } = await open();
    const { ledger, deadLetters, storage } = metering;
    const wanted = { inputTokens: 10_000_000, outputTokens: 20_000_000 };
    const hold = await clock.until(ledger.hold(request(accountId, wanted), never));
    const counted = { inputTokens: 1, outputTokens: wanted.outputTokens };
    hold.progress({ ...counted, outputTokens: 0 }); // the rest of its slice is free
    fates.set("giveBack", "late");
    await clock.until(ledger.callIn(accountId));
    await clock.pass(2000); // compares its slices, which still have everything, and gives back what is free once more
    expect(late).toHaveLength(1);
    await Promise.allSettled(late.map((carryOut) => clock.until(carryOut())));
    const told = await clock.until(hold.settle(counted, "completed"));
    expect(told?.cost).toBe(200_000 + wanted.outputTokens * out);
    await clock.until(ledger.close());
    expect(await deadLetters.count()).toBe(0);
    expect(await reconcile(storage)).toMatchObject({ ok: true, receipts: 1n, debtPicoUsd: "0" });
  });
});
