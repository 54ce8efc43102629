import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import type { Budget } from "#src/wire/principal.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases } from "../../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";

// Two cores on one PostgreSQL that spend one key's budget, each by a clock of its own.

const newDatabase = databases();
const out = 250_000;
const dayMs = 86_400_000;
const beforeMidnightMs = 20_000;
const minuteMs = 60_000;
const limit = 1000 * out;

/** A core with the clock of its machine. */
interface Core {
  readonly clock: ManualClock;
  readonly metering: Metering;
}

/** A key of an account with money, and two cores shortly before a midnight of UTC; the second one's machine has a clock of its own. */
async function openCores(offMs = 0) {
  const url = await newDatabase("postgresql");
  const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
  await (await movableClock(url))(midnight - beforeMidnightMs - Date.now());
  const openCore = async (offset: number): Promise<Core> => {
    const clock = new ManualClock(midnight - beforeMidnightMs + offset);
    return { clock, metering: await openMetering({ clock, url }) };
  };
  const cores = [await openCore(0), await openCore(offMs)] as const;
  const accountId = await cores[0].metering.account({ paid: 10 * usd });
  const keyId = await storeKey(cores[0].metering, accountId);
  const budget: Budget = { id: keyId, limit, period: "day" };
  const hold = ({ clock, metering }: Core, tokens: number, under = budget): Promise<Hold> => {
    const asked = request(accountId, { inputTokens: 0, outputTokens: tokens }, { keyId, budget: under });
    return clock.until(metering.ledger.hold(asked, never));
  };
  return {
    ...{ cores, midnight, accountId, budget, hold },
    settle: ({ clock }: Core, held: Hold) =>
      clock.until(held.settle({ inputTokens: 0, outputTokens: held.outputTokens }, "completed")),
    refusal: (core: Core, under = budget) =>
      hold(core, 100, under).then(
        () => undefined,
        (error: unknown) => readDetail(error)?.reason,
      ),
    spent: async ({ metering }: Core, under = budget) => (await metering.ledger.budgetState(under)).spent,
    async close() {
      const [{ metering, clock }] = cores;
      expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
      for (const core of cores) {
        await core.clock.until(core.metering.close());
      }
    },
  };
}

describe("two cores", () => {
  test.each([
    ["minutes behind", -5 * minuteMs],
    ["minutes ahead", 5 * minuteMs],
  ])(
    "a machine's clock that is %s moves no window; one that is passed by midnight later spends of its own day",
    async (_, offMs) => {
      const { cores, midnight, budget, hold, settle, refusal, spent, close } = await openCores(offMs);
      const [first, later] = cores;
      expect(Math.abs(later.metering.time.now() - first.metering.time.now())).toBeLessThan(beforeMidnightMs / 2);
      const late = await hold(first, 300);
      await settle(later, await hold(later, 400));
      await first.clock.pass(beforeMidnightMs + 1000);
      expect([first, later].map(({ metering }) => metering.time.now() >= midnight)).toEqual([true, false]);
      await settle(first, await hold(first, 600));
      await settle(first, late);
      const raised = { ...budget, limit: 1200 * out }; // counted anew on a day that is over for the other core
      const rest = await hold(later, 1000, raised);
      expect(rest.outputTokens).toBe(500);
      await settle(later, rest);
      expect(await refusal(later, raised)).toBe(Reason.BUDGET_EXHAUSTED);
      expect(await spent(later, raised)).toBe(1200 * out);
      await later.clock.pass(beforeMidnightMs + 1000);
      await first.clock.pass(8000); // until it has given back what is free
      const whole = await hold(later, 1000);
      expect(whole.outputTokens).toBe(400);
      await settle(later, whole);
      expect(await Promise.all(cores.map((core) => spent(core)))).toEqual([limit, limit]);
      await close();
    },
    60_000,
  );

  test("a limit that is lowered below what is spent and held lets nothing more in on either, until it is raised", async () => {
    const { cores, budget, hold, settle, refusal, spent, close } = await openCores();
    const [first, second] = cores;
    const running = [await hold(first, 300), await hold(second, 300)] as const;
    const lowered = { ...budget, limit: 500 * out };
    for (const core of cores) {
      expect(await refusal(core, lowered)).toBe(Reason.BUDGET_HELD);
    }
    await settle(first, running[0]);
    await settle(second, running[1]);
    for (const core of cores) {
      await core.clock.pass(1000);
      expect(await refusal(core, lowered)).toBe(Reason.BUDGET_EXHAUSTED);
    }
    expect(await spent(first, lowered)).toBe(600 * out);
    const rest = await hold(second, 1000);
    expect(rest.outputTokens).toBe(400);
    await settle(second, rest);
    expect(await spent(first)).toBe(limit);
    await close();
  }, 60_000);

  test("a core that misses that a limit was lowered gives back what it leased as soon as it hears again", async () => {
    const { cores, accountId, budget, hold, settle, close } = await openCores();
    const [first, second] = cores;
    await settle(first, await hold(first, 300));
    const em = first.metering.storage.orm.em.fork();
    const leased = async () => {
      const [row] = await em.execute(
        "select sum(granted - spent) as leased from budget_slice where budget_id = ? and open",
        [budget.id],
      );
      return Number(row?.leased);
    };
    const listening = `from pg_stat_activity where datname = current_database() and query = 'listen tollgate_account'`;
    const free = await leased();
    expect(free).toBeGreaterThan(0);
    await em.execute(`select pg_terminate_backend(pid, 10000) ${listening}`);
    await second.clock.until(second.metering.ledger.callIn(accountId));
    expect(await leased()).toBe(free);
    await first.clock.pass(3000);
    expect(await leased()).toBe(0);
    const rest = await hold(second, 1000, { ...budget, limit: 500 * out });
    expect(rest.outputTokens).toBe(200);
    await settle(second, rest);
    await close();
  }, 60_000);
});
