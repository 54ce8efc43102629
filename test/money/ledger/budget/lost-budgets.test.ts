import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Outage } from "#lib/errors/outage.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { BudgetCache } from "#src/money/ledger/budget/budget-cache.ts";
import { toWindowRequest, windowAt } from "#src/money/model/budget-window.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { BudgetSlice } from "#src/storage/entities/metering/budget.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import type { Budget } from "#src/wire/principal.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, run, testModel, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";
import { budgetOf, out, output } from "./key-budget.ts";

// Charges that count in a budget when something went wrong: each counts once, and what was not charged is free again.

const newDatabase = databases();
const dayMs = 86_400_000;

/** What makes a database refuse one key's receipts for ever. */
const refusal = {
  sqlite: `create trigger refusal before insert on usage when new.key_id = 'refused' begin select raise(abort, 'refused'); end`,
  postgresql: "alter table usage add check (key_id <> 'refused')",
};

describe.each(dialects)("%s", (dialect) => {
  const prove = async ({ storage, ledger }: Metering, clock: ManualClock) =>
    expect(await clock.until(reconcile(storage, ledger))).toMatchObject({ ok: true, findings: [] });
  const spent = async ({ ledger }: Metering, budget: Budget) => Number((await ledger.budgetState(budget)).spent);
  const slices = ({ storage }: Metering, budget: Budget) =>
    storage.orm.em.fork().find(BudgetSlice, { budgetId: budget.id });

  /** Takes the core's slices from it, as happens to a core that is taken for dead. */
  async function loseSlices(metering: Metering, url: string, clock: ManualClock, budget: Budget): Promise<void> {
    if (dialect === "sqlite") {
      // There is no other core that could take the lot's slices; the budget's may have been closed before.
      await metering.store.closeBudgets((await slices(metering, budget)).map(({ id }) => id));
      return;
    }
    await metering.storage.orm.em.fork().execute("update core set dead_beat = beats");
    const other = await openMetering({ clock, url });
    await clock.until(other.store.reap([]));
    await clock.until(other.close());
  }

  test("a charge whose lease an older state of the database has not is to be counted anew, as one outside of leases", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const keyId = budget.id;
    const charge = () => clock.until(run(metering.ledger, request(account, output(6), { budget, keyId })));
    const unbudgeted = async () => (await metering.store.unseenTallies(9)).map((tally) => tally.unbudgeted);
    await charge();
    expect(await unbudgeted()).toEqual([false]);
    await metering.storage.orm.em.fork().nativeDelete(BudgetSlice, { budgetId: budget.id });
    await charge();
    expect(await unbudgeted()).toEqual([true]);
    await clock.until(metering.close());
  });

  test("what was leased anew for a request whose lease was lost is spent by it alone", async () => {
    const clock = new ManualClock(Date.now());
    const url = await newDatabase(dialect);
    const metering = await openMetering({ clock, url });
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const hold = (tokens: number) =>
      clock.until(metering.ledger.hold(request(account, output(tokens), { budget }), never));
    const first = await hold(600);
    await loseSlices(metering, url, clock, budget);
    await clock.pass(6000);
    const second = await hold(400);
    await clock.until(first.settle(output(600), "completed"));
    await expect(hold(64)).rejects.toThrow(/budget/i);
    await clock.until(second.settle(output(400), "completed"));
    await clock.pass(6000);
    await expect(hold(64)).rejects.toThrow(/budget/i);
    expect(await spent(metering, budget)).toBe(1000 * out);
    await prove(metering, clock);
    await clock.until(metering.close());
  }, 60_000);

  test("a charge whose lease was lost counts in its budget once, and what is left is leased anew", async () => {
    const clock = new ManualClock(Date.now());
    const url = await newDatabase(dialect);
    const metering = await openMetering({ clock, url });
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const hold = await clock.until(metering.ledger.hold(request(account, output(600), { budget }), never));
    await loseSlices(metering, url, clock, budget);
    expect(await slices(metering, budget)).toMatchObject([{ open: false, spent: 0 }]);
    await clock.until(hold.settle(output(600), "completed"));
    expect(await spent(metering, budget)).toBe(600 * out);
    await clock.pass(6000);
    const rest = await clock.until(metering.ledger.hold(request(account, output(1000), { budget }), never));
    expect(rest.outputTokens).toBe(400);
    await clock.until(rest.settle(output(400), "completed"));
    expect(await spent(metering, budget)).toBe(1000 * out);
    await prove(metering, clock);
    await clock.until(metering.close());
  }, 60_000);

  test("money of a budget that comes on a slice that was lost meanwhile is leased anew on another one", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const { store } = metering;
    let asked = 0;
    const losing: Pick<LedgerStore, "shared" | "acquireBudget" | "announce" | "closeBudgets"> = {
      shared: store.shared,
      announce: (accountId) => store.announce(accountId),
      closeBudgets: (ids) => store.closeBudgets(ids),
      async acquireBudget(request) {
        const lease = await store.acquireBudget(request);
        if (++asked === 1) {
          cache.loseAll(); // others took this core for dead
        }
        return lease;
      },
    };
    const outage = new Outage(
      { logger: silentLogger, clock },
      "the store could not be asked",
      "the store can be asked again",
    );
    const parts = { clock, random: systemRandom, logger: silentLogger, outage };
    const cache = new BudgetCache({ ...parts, store: losing as LedgerStore });
    const budget = budgetOf(1000 * out);
    const cached = cache.find(budget, account);
    const { wallet } = cached;
    await clock.until(cached.fund(400 * out));
    const own = (await slices(metering, budget)).find(({ id }) => id === wallet.sliceId);
    expect(own).toMatchObject({ open: true, granted: wallet.available });
    await clock.until(cache.close());
    expect(await metering.storage.orm.em.fork().count(BudgetSlice, { open: true })).toBe(0);
    await clock.until(metering.close());
  }, 60_000);

  test("a slice that a failover has forgotten is not made anew under the name that receipts have", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const held = await clock.until(metering.ledger.hold(request(account, output(100), { budget }), never));
    const em = metering.storage.orm.em.fork();
    await em.execute("delete from budget_slice");
    await em.execute("update budget set leased = 0");
    await clock.until(held.settle(output(100), "completed"));
    const raised = { ...budget, limit: 5000 * out }; // the rest goes back, and more is leased
    await clock.until(run(metering.ledger, request(account, output(2000), { budget: raised })));
    await prove(metering, clock);
    await clock.until(metering.close());
  }, 60_000);

  test("slices of budgets that a failover brings back, or makes larger or smaller, are put right within a minute", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const [kept, grown, shrunk] = [budgetOf(1000 * out), budgetOf(1000 * out), budgetOf(1000 * out)];
    await clock.until(run(metering.ledger, request(account, output(100), { budget: kept })));
    await clock.pass(306_000); // unused: it is given back and closed
    expect(await slices(metering, kept)).toMatchObject([{ open: false }]);
    const holds = [];
    for (const budget of [grown, shrunk]) {
      holds.push(await clock.until(metering.ledger.hold(request(account, output(100), { budget }), never)));
    }
    const em = metering.storage.orm.em.fork();
    // As they were before the last moments: not closed yet, not given back yet, not extended yet.
    await em.execute("update budget_slice set open = true where budget_id = ?", [kept.id]);
    await em.execute("update budget set leased = leased + ?, spent = 0 where id = ?", [1000 * out, kept.id]);
    await em.execute("update budget_slice set granted = ? where budget_id = ?", [1000 * out, kept.id]);
    const granted = (await slices(metering, grown))[0]?.granted ?? 0;
    for (const [budget, instead] of [
      [grown, 1500 * out],
      [shrunk, 200 * out],
    ] as const) {
      await em.execute("update budget_slice set granted = ? where budget_id = ?", [instead, budget.id]);
      await em.execute("update budget set leased = ? where id = ?", [instead, budget.id]);
    }
    await clock.pass(62_000);
    expect(await slices(metering, kept)).toMatchObject([{ open: false, spent: 100 * out }]);
    expect(await slices(metering, grown)).toMatchObject([{ open: true, granted }]);
    const more = await clock.until(metering.ledger.hold(request(account, output(900), { budget: shrunk }), never));
    expect(more.outputTokens).toBe(900); // of what is left, and no more than the limit beside the one that runs
    for (const hold of [...holds, more]) {
      hold.release();
    }
    await prove(metering, clock);
    await clock.until(metering.close());
  }, 60_000);

  test("a charge that goes to the dead letters spends nothing of its budget, and says which slice it was on", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    await metering.storage.orm.em.fork().execute(refusal[dialect]);
    const impossible = request(account, output(600), { budget, keyId: "refused" });
    const hold = await clock.until(metering.ledger.hold(impossible, never));
    await expect(clock.until(hold.settle(output(600), "completed"))).rejects.toThrow();
    const [slice] = await slices(metering, budget);
    const letters = await metering.deadLetters.list({ after: undefined, limit: 10 });
    expect(letters).toMatchObject([{ charge: { requestId: impossible.requestId, budgetSliceId: slice?.id } }]);
    expect(await spent(metering, budget)).toBe(0);
    await clock.pass(306_000); // until what is not used is given back
    const next = await clock.until(metering.ledger.hold(request(account, output(1000), { budget }), never));
    expect(next.outputTokens).toBe(1000);
    await clock.until(next.settle(output(1000), "completed"));
    expect(await spent(metering, budget)).toBe(1000 * out);
    await prove(metering, clock);
    await clock.until(metering.close());
  }, 60_000);

  test("what a dead process noted and promised in its journal counts in the budget once, and frees the rest", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-budget-"));
    const url = await newDatabase(dialect);
    const clock = new ManualClock(Date.now());
    const lastMoments = new ManualClock(Date.now());
    const parts = { random: systemRandom, logger: silentLogger };
    const dying = openJournal(directory, { clock, ...parts });
    const before = await openMetering({ clock: lastMoments, url, journal: dying, coreId: dying.coreId });
    const account = await before.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    await lastMoments.until(run(before.ledger, request(account, output(100), { budget })));
    const hold = await lastMoments.until(before.ledger.hold(request(account, output(500), { budget }), never));
    hold.progress(output(300));
    const [slice] = await slices(before, budget);
    const [lent] = await before.storage.orm.em.fork().find(Slice, { accountId: account, open: true });
    const cost = 200 * out;
    const line = { ...output(200), inputRate: 200_000, outputRate: out, cost };
    const promised = {
      ...{ requestId: v7(), runId: v7(), accountId: account, keyId: "", model: testModel, ...output(200) },
      ...{ cost, shortfall: 0, status: "completed" as const, settledAt: before.time.now() },
      lines: [{ ...line, sliceId: lent?.id ?? "", lotId: lent?.lotId ?? "" }],
      ...(slice === undefined ? {} : { budgetSliceId: slice.id }),
    };
    expect(await dying.promise([promised])).toBe(true);
    await lastMoments.advanceAsync(1100);
    await dying.close(); // what is in the file now is all that is left
    await before.store.end();
    await before.storage.close();

    const journal = openJournal(directory, { clock, ...parts });
    const after = await openMetering({ clock, url, journal, coreId: journal.coreId });
    expect(await slices(after, budget)).toMatchObject([{ id: slice?.id, open: false, spent: 600 * out }]);
    expect(await spent(after, budget)).toBe(600 * out);
    const rest = await clock.until(after.ledger.hold(request(account, output(1000), { budget }), never));
    expect(rest.outputTokens).toBe(400);
    await clock.until(rest.settle(output(400), "completed"));
    await after.ledger.caughtUp();
    expect(await spent(after, budget)).toBe(1000 * out);
    await prove(after, clock);
    await clock.until(after.close());
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  test("what a dead process noted counts in the window of its lease alone, though the next one's clock is a day behind", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-budget-"));
    const url = await newDatabase(dialect);
    const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
    const [lastMoments, behind] = [new ManualClock(Date.now()), new ManualClock(Date.now() - dayMs)];
    const parts = { random: systemRandom, logger: silentLogger };
    const dying = openJournal(directory, { clock: lastMoments, ...parts });
    const before = await openMetering({ clock: lastMoments, url, journal: dying, coreId: dying.coreId });
    const account = await before.account({ paid: 10 * usd });
    const keyId = await storeKey(before, account);
    const budget: Budget = { id: keyId, limit: 1000 * out, period: "day" };
    const hold = await lastMoments.until(before.ledger.hold(request(account, output(500), { budget, keyId }), never));
    hold.progress(output(300));
    await lastMoments.advanceAsync(1100);
    await dying.close(); // what is in the file now is all that is left
    await before.store.end();
    await before.storage.close();

    await turn(-dayMs);
    const journal = openJournal(directory, { clock: behind, ...parts });
    const after = await openMetering({ clock: behind, url, journal, coreId: journal.coreId });
    const ofDay = (at: number) =>
      after.store.budgetSpending({ ...toWindowRequest(budget.id, windowAt("day", at)), limit: budget.limit });
    expect(await ofDay(lastMoments.now())).toEqual({ spent: BigInt(300 * out) });
    expect(await ofDay(behind.now())).toEqual({ spent: 0n });
    await prove(after, behind);
    await behind.until(after.close());
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);
});
