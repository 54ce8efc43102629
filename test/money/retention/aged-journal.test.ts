import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { dayMs } from "#lib/time/days.ts";
import { type Journal, noJournal } from "#src/money/journal/journal.ts";
import { agedReason } from "#src/money/ledger/settlement/aged-charges.ts";
import { toWindowRequest, windowAt } from "#src/money/model/budget-window.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { dialects } from "../databases.ts";
import { openMetering, testModel } from "../fixture.ts";
import { prove, settledDays } from "./settled-days.ts";

const live = settledDays();

describe.each(dialects)("%s", (dialect) => {
  test("a journal that is older than the receipts charges nothing twice; what an operator settles of it is of today", async () => {
    const { url, setTime, storage, ledger, account, budget, ids, clock, midnight, retention, close } =
      await live(dialect);
    const stored = await storage.orm.em.fork().findAll(Usage, { orderBy: { settledAt: "asc" } });
    await retention().work();
    const spent = (await ledger.budgetState(budget)).spent;
    await clock.until(close());
    await setTime(midnight + 3 * dayMs);
    const later = new ManualClock(midnight + 3 * dayMs);

    const charge = ({ requestId, runId, keyId, settledAt, outputTokens, budgetSliceId }: Usage): Charge => ({
      ...{ requestId, runId, accountId: account, keyId, model: testModel, status: "completed", lines: [] },
      ...{ inputTokens: 10, outputTokens, cost: 0, shortfall: 0, settledAt: settledAt.getTime() },
      ...(budgetSliceId != null && { budgetSliceId }),
    });
    const note = ({ settledAt, status, cost, shortfall, lines, inputTokens, outputTokens, ...run }: Charge) => ({
      ...run,
      tokens: { inputTokens, outputTokens },
    });
    const [promised, noted, rest, old] = stored.slice(0, 4).map(charge) as [Charge, Charge, Charge, Charge];
    const restRun = rest.runId.replace(/-7/, "-8");
    const strange = { ...note(old), requestId: "my-own-id", runId: "b3b7c1c5-5a3c-4a0e-9d0b-5d3f5f0f6f11" };
    const young = { ...note(old), requestId: v7(), runId: v7({ msecs: midnight + 2 * dayMs }) };
    const known = stored.slice(7).map(charge);
    const left = new Set<string>();
    const journal: Journal = {
      ...noJournal,
      read: async () => ({
        epoch: 0,
        charges: [promised, { ...rest, runId: restRun }, ...known],
        running: [note(noted), strange, young],
      }),
      forget: (run) => void left.add(run.runId),
    };
    const opened = await openMetering({ clock: later, url, journal });
    const usage = () => opened.storage.orm.em.fork().findAll(Usage, { orderBy: { settledAt: "asc" } });
    expect((await usage()).map(({ requestId }) => requestId)).toEqual([...ids.slice(7), young.requestId]);
    const letters = await opened.deadLetters.list({ after: undefined, limit: 100 });
    const aged = [promised.runId, restRun, noted.runId, strange.runId].toSorted();
    expect(letters.map(({ id }) => id).toSorted()).toEqual(aged);
    expect(new Set(letters.map(({ reason }) => reason))).toEqual(new Set([agedReason]));
    expect(left).toEqual(new Set([...aged, ...known.map(({ runId }) => runId), young.runId]));
    await prove(opened.storage);

    expect(promised.budgetSliceId).toBeDefined();
    await later.until(opened.ledger.settleLate(promised));
    const settled = (await usage()).find(({ runId }) => runId === promised.runId);
    expect(settled?.settledAt.getTime()).toBeGreaterThanOrEqual(midnight);
    expect(settled?.budgetSliceId).toBeNull();
    await opened.store.recountBudget(toWindowRequest(budget.id, windowAt("total", midnight)));
    expect((await opened.ledger.budgetState(budget)).spent).toBe(spent + BigInt(settled?.cost ?? 0));
    await prove(opened.storage);
    await later.until(opened.close());
  }, 60_000);
});
