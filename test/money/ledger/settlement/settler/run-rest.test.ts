import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type Journal, type JournalEntry, noJournal } from "#src/money/journal/journal.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { runKey } from "#src/money/model/charges/run.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../../databases.ts";
import { openMetering, testModel, usd } from "../../../fixture.ts";

// Journals of one run that know it ever better, or worse, each charged after the other.

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("a run is charged for the most that any journal knows of it, until its end is charged", async () => {
    const clock = new ManualClock(Date.now());
    const url = await newDatabase(dialect);
    const first = await openMetering({ clock, url });
    const account = await first.account({ paid: 10 * usd });
    await clock.until(first.close());
    const run = { requestId: v7(), runId: v7(), accountId: account, keyId: "", model: testModel };
    const note = (inputTokens: number, outputTokens: number): JournalEntry => ({
      ...run,
      tokens: { inputTokens, outputTokens },
    });
    const end = (outputTokens: number): Charge => ({
      ...{ ...run, inputTokens: 10, outputTokens, cost: 0, shortfall: 0 },
      ...{ status: "completed", settledAt: clock.now(), lines: [] },
    });
    const recover = async (running: readonly JournalEntry[], charges: readonly Charge[] = []) => {
      const left = new Set([...running, ...charges].map(runKey));
      const journal: Journal = {
        ...noJournal,
        read: async () => ({ epoch: 0, charges, running }),
        forget: (of) => void left.delete(runKey(of)),
      };
      const metering = await openMetering({ clock, url, journal });
      const stored = await metering.storage.orm.em.fork().findAll(Usage);
      expect(await reconcile(metering.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
      await clock.until(metering.close());
      expect(left).toEqual(new Set());
      const sum = (of: (usage: Usage) => number) => stored.reduce((total, usage) => total + of(usage), 0);
      return [sum(({ inputTokens }) => inputTokens), sum(({ outputTokens }) => outputTokens), stored.length];
    };
    expect(await recover([note(0, 0)])).toEqual([0, 0, 0]);
    expect(await recover([note(10, 300)])).toEqual([10, 300, 1]);
    expect(await recover([note(10, 300)])).toEqual([10, 300, 1]);
    expect(await recover([note(10, 1000)])).toEqual([10, 1000, 2]);
    expect(await recover([note(10, 200)])).toEqual([10, 1000, 2]);
    expect(await recover([], [end(5000)])).toEqual([10, 5000, 3]);
    expect(await recover([], [end(5000)])).toEqual([10, 5000, 3]);
    expect(await recover([note(10, 5003)])).toEqual([10, 5000, 3]);
  });

  test("a run whose end was charged first is charged no more", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: 10 * usd });
    const charge: Charge = {
      ...{ requestId: v7(), runId: v7(), accountId: account, keyId: "", model: testModel },
      ...{ inputTokens: 10, outputTokens: 100, cost: 0, shortfall: 0 },
      ...{ status: "completed", settledAt: clock.now(), lines: [] },
    };
    for (const outputTokens of [100, 5000]) {
      await clock.until(metering.ledger.settleLate({ ...charge, outputTokens }));
    }
    expect(await metering.storage.orm.em.fork().findAll(Usage)).toMatchObject([{ outputTokens: 100 }]);
    await clock.until(metering.close());
  });
});
