import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { toWindowRequest, windowAt } from "#src/money/model/budget-window.ts";
import type { SpendingRequest } from "#src/money/model/store/budget.ts";
import { BudgetSlice } from "#src/storage/entities/metering/budget.ts";
import type { Budget } from "#src/wire/principal.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, run, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";
import { budgetOf, openWithClock, out, output, refusalOf } from "./key-budget.ts";

const newDatabase = databases();
const dayMs = 86_400_000;
const beforeMidnightMs = 20_000;

describe.each(dialects)("%s", (dialect) => {
  const open = async () => openWithClock(await newDatabase(dialect));

  /** Metering whose clock, and its database's, is shortly before a midnight of UTC. */
  async function openBeforeMidnight(): Promise<{ metering: Metering; clock: ManualClock; midnight: number }> {
    const url = await newDatabase(dialect);
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    if (dialect === "postgresql") {
      const turn = await movableClock(url);
      await turn(midnight - beforeMidnightMs - Date.now());
    }
    const clock = new ManualClock(midnight - beforeMidnightMs);
    return { metering: await openMetering({ clock, url }), clock, midnight };
  }

  test("a request takes from the balance and from its key's budget, and is clamped to what is left of it", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const first = await clock.until(metering.ledger.hold(request(account, output(600), { budget }), never));
    await clock.until(first.settle(output(500), "completed"));
    const second = await clock.until(metering.ledger.hold(request(account, output(800), { budget }), never));
    expect(second.outputTokens).toBe(500);
    await clock.until(second.settle(output(500), "completed"));
    expect(await metering.ledger.budgetState(budget)).toEqual({
      spent: BigInt(1000 * out),
      left: 0,
      resetsAt: undefined,
    });
    const refused = metering.ledger.hold(request(account, output(1), { budget }), never);
    await expect(clock.until(refused)).rejects.toThrow("The key's budget of 0.00025 USD in all is spent.");
    expect(await refusalOf(clock, metering.ledger.hold(request(account, output(1), { budget }), never))).toBe(
      Reason.BUDGET_EXHAUSTED,
    );
    await clock.until(run(metering.ledger, request(account, output(100))));
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });

  test("a key whose budget is spent is refused from memory, and served as soon as its limit is raised", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const spend = (under: Budget) => run(metering.ledger, request(account, output(1000), { budget: under }));
    await clock.until(spend(budget));
    let looks = 0;
    const acquire = metering.store.acquireBudget.bind(metering.store);
    metering.store.acquireBudget = (wanted) => {
      looks++;
      return acquire(wanted);
    };
    for (let times = 0; times < 20; times++) {
      expect(await refusalOf(clock, spend(budget))).toBe(Reason.BUDGET_EXHAUSTED);
    }
    expect(looks).toBeLessThan(2);
    await clock.until(spend({ ...budget, limit: 2000 * out }));
    await clock.until(metering.close());
  });

  test("a key that rests for minutes is served from memory, and what its core had leased goes back then", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const spend = () => run(metering.ledger, request(account, output(100), { budget }));
    await clock.until(spend());
    let looks = 0;
    const acquire = metering.store.acquireBudget.bind(metering.store);
    metering.store.acquireBudget = (wanted) => {
      looks++;
      return acquire(wanted);
    };
    await clock.pass(60_000);
    await clock.until(spend());
    expect(looks).toBe(0);
    await clock.pass(310_000);
    expect(await metering.storage.orm.em.fork().count(BudgetSlice, { open: true })).toBe(0);
    await clock.until(metering.close());
  }, 60_000);

  test("while running requests hold what is left of it others are told to come back", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const hold = await clock.until(metering.ledger.hold(request(account, output(1000), { budget }), never));
    expect(await refusalOf(clock, metering.ledger.hold(request(account, output(500), { budget }), never))).toBe(
      Reason.BUDGET_HELD,
    );
    hold.release();
    await clock.until(run(metering.ledger, request(account, output(1000), { budget })));
    await clock.until(metering.close());
  }, 60_000);

  test("who waits for a key's budget holds up no request of the account that does not spend from it", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    const ask = (tokens: number, facts: object = {}) =>
      metering.ledger.hold(request(account, output(tokens), facts), never);
    const running = await clock.until(ask(1000, { budget }));
    const askedAt = clock.monotonic();
    const waiting = [ask(500, { budget }), ask(500, { budget })];
    const others = [ask(100), ask(100, { budget: budgetOf(1000 * out) })];
    const holds = await clock.until(Promise.all(others));
    // In memory already, and dearer than all that is leased.
    holds.push(await clock.until(ask(100)), await clock.until(ask(30_000_000)));
    expect(clock.monotonic() - askedAt).toBeLessThan(1000);
    running.release();
    holds.push(...(await clock.until(Promise.all(waiting))));
    for (const hold of holds) {
      hold.release();
    }
    await clock.until(metering.close());
  });

  test("what comes late counts in the window of its admission; the next one begins whole", async () => {
    const { metering, clock, midnight } = await openBeforeMidnight();
    const account = await metering.account({ paid: 10 * usd });
    const keyId = await storeKey(metering, account);
    const budget: Budget = { id: keyId, limit: 1000 * out, period: "day" };
    const late = await clock.until(metering.ledger.hold(request(account, output(900), { keyId, budget }), never));
    const { resetsAt = 0 } = await metering.ledger.budgetState(budget);
    const [today, tomorrow] = [metering.time.now(), resetsAt].map((at) => {
      return { ...toWindowRequest(budget.id, windowAt("day", at)), limit: budget.limit };
    }) as [SpendingRequest, SpendingRequest];
    expect(resetsAt).toBe(midnight);
    await clock.pass(beforeMidnightMs + 1000);
    expect(metering.time.now()).toBeGreaterThan(midnight);
    await clock.until(late.settle(output(900), "completed"));
    expect(await metering.store.budgetSpending(today)).toEqual({ spent: BigInt(900 * out) });
    expect(await metering.store.budgetSpending(tomorrow)).toEqual({ spent: 0n });
    const wanted = request(account, output(1000), { keyId, budget });
    const whole = await clock.until(metering.ledger.hold(wanted, never));
    expect(whole.outputTokens).toBe(1000);
    await clock.until(whole.settle(output(1000), "completed"));
    expect(await metering.store.budgetSpending(today)).toEqual({ spent: BigInt(900 * out) });
    expect(await metering.store.budgetSpending(tomorrow)).toEqual({ spent: BigInt(1000 * out) });
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });

  test("what a killed core had leased and not spent comes back, and what ran counts", async () => {
    const { metering, clock, url } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(1000 * out);
    await clock.until(run(metering.ledger, request(account, output(300), { budget })));
    await clock.until(metering.ledger.hold(request(account, output(700), { budget }), never));
    await metering.storage.orm.em.fork().execute("update core set dead_beat = beats");
    if (dialect === "sqlite") {
      await metering.storage.close(); // without a word of the ledger
    }
    const next = await openWithClock(url);
    await next.clock.until(next.metering.store.reap([]));
    const hold = await next.clock.until(next.metering.ledger.hold(request(account, output(1000), { budget }), never));
    expect(hold.outputTokens).toBe(700);
    await next.clock.until(hold.settle(output(700), "completed"));
    expect(await next.metering.ledger.budgetState(budget)).toMatchObject({ left: 0 });
    await next.clock.until(next.metering.close());
    if (dialect === "postgresql") {
      await clock.until(metering.close());
    }
  }, 60_000);

  test("200 requests at once on two cores spend it to less than the price of 64 tokens, and not one pico-USD more", async () => {
    const { metering, clock, url } = await open();
    const cores = [metering, ...(dialect === "postgresql" ? [await openMetering({ clock, url })] : [])];
    const account = await metering.account({ paid: 10 * usd });
    const budget = budgetOf(7777 * out + 3);
    const spend = async (at: number) => {
      const core = cores[at % cores.length] as Metering;
      for (;;) {
        const hold = await core.ledger.hold(request(account, output(100), { budget }), never);
        await hold.settle(output(Math.min(hold.outputTokens, 90)), "completed");
      }
    };
    const ends = await clock.until(Promise.allSettled(Array.from({ length: 200 }, (_, at) => spend(at))));
    const reasons = new Set(ends.map((end) => end.status === "rejected" && readDetail(end.reason)?.reason));
    expect([...reasons].every((reason) => reason === Reason.BUDGET_EXHAUSTED || reason === Reason.BUDGET_HELD)).toBe(
      true,
    );
    // Once everybody has given back what is free, the rest is spent, whichever core is asked.
    await clock.pass(8000);
    for (let rest = 0; rest < 300; rest++) {
      const reason = await refusalOf(clock, run(metering.ledger, request(account, output(100), { budget })));
      if (reason === Reason.BUDGET_EXHAUSTED) {
        break;
      }
    }
    const { spent } = await metering.ledger.budgetState(budget);
    expect(spent).toBeLessThanOrEqual(budget.limit);
    expect(spent).toBeGreaterThan(budget.limit - 64 * out);
    for (const core of cores) {
      await clock.until(core.ledger.close());
    }
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true, findings: [] });
    expect(await metering.storage.orm.em.fork().count(BudgetSlice, { open: true })).toBe(0);
    for (const core of cores) {
      await core.storage.close();
    }
  }, 120_000);
});
