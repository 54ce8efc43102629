import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type Journal, type JournalEntry, noJournal } from "#src/money/journal/journal.ts";
import { toLetterId } from "#src/money/ledger/settlement/dead-letters.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { firstRun, runKey } from "#src/money/model/charges/run.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, models, never, openMetering, request, testModel, usd } from "../../fixture.ts";

// What an earlier process left behind that cannot be charged, beside what can.

const newDatabase = databases();
const open: Metering[] = [];
let clock: ManualClock;
afterEach(async () => {
  for (const metering of open.splice(0)) {
    await clock.until(metering.close());
  }
});

/** A journal that a dead process has left, and what is still in it. */
function journalOf(running: readonly JournalEntry[], charges: readonly Charge[] = []) {
  const left = new Set([...running, ...charges].map(runKey));
  const journal: Journal = {
    ...noJournal,
    read: async () => ({ epoch: 0, charges, running }),
    forget: (run) => void left.delete(runKey(run)),
  };
  return { journal, left };
}

const entry = (accountId: string, tokens: ChargedTokens, more: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ requestId: v7(), runId: v7(), accountId, keyId: "", model: testModel, tokens },
  ...more,
});
const promise = (accountId: string, more: Partial<Charge> = {}): Charge => ({
  ...{ requestId: v7(), runId: v7(), accountId, keyId: "", model: testModel, inputTokens: 10, outputTokens: 10 },
  ...{ cost: 0, shortfall: 0 },
  ...{ status: "completed", settledAt: Date.now(), lines: [] },
  ...more,
});

describe.each(dialects)("%s", (dialect) => {
  let url: string;
  let account: string;
  const begin = async () => {
    clock = new ManualClock(Date.now());
    url = await newDatabase(dialect);
    const before = await openMetering({ clock, url });
    account = await before.account({ paid: 100 * usd });
    await clock.until(before.close());
  };
  const start = async (parts: Parameters<typeof openMetering>[0] = {}) => {
    const metering = await openMetering({ clock, url, ...parts });
    open.push(metering);
    return metering;
  };
  const receipts = async ({ storage }: Metering) =>
    new Map((await storage.orm.em.fork().findAll(Usage)).map((usage) => [usage.requestId, usage]));
  const lettersOf = async ({ deadLetters }: Metering) => deadLetters.list({ after: undefined, limit: 100 });

  test("each record is charged or put aside by itself, and the core starts and serves", async () => {
    await begin();
    const tokens = { inputTokens: 10, outputTokens: 20 };
    const good = entry(account, tokens);
    const large = entry(account, { inputTokens: 0, outputTokens: 300_000_000 });
    const bad: [JournalEntry, string][] = [
      [entry(v7(), tokens), "There is no account"],
      [entry("nobody", tokens), "no account's id"],
      [entry(account, { inputTokens: 0, outputTokens: 1e300 }), "1e+300"],
      [entry(account, { inputTokens: 0, outputTokens: 4e10 }), "more than one receipt can hold"],
      [entry(account, { inputTokens: 1.5, outputTokens: 1 }), "1.5"],
      [entry(account, { inputTokens: 3, outputTokens: -1 }), "-1"],
      [entry(account, tokens, { model: "never/priced" }), "never/priced"],
      [entry(account, tokens, { model: "nul\0" }), "NUL"],
      [entry(account, tokens, { requestId: `long-${"x".repeat(5000)}` }), "longer than"],
      [entry(account, tokens, { runId: "first" }), "no run's id"],
      [entry(account, tokens, { runId: firstRun, requestId: "nul\0" }), "NUL"],
      [entry(account, tokens, { runId: firstRun, requestId: `long-${"x".repeat(5000)}` }), "longer than"],
      [entry(account, tokens, { keyId: 7 as unknown as string }), "no text"],
    ];
    const promised = promise(account);
    const foreign = promise(account, { status: "no status" as "completed" });
    const running = [good, large, ...bad.map(([record]) => record)];
    const { journal, left } = journalOf(running, [promised, foreign]);
    const metering = await start({ journal });

    expect(left).toEqual(new Set());
    const stored = await receipts(metering);
    expect([...stored.keys()].toSorted()).toEqual([good, large, promised].map(({ requestId }) => requestId).toSorted());
    expect(stored.get(large.requestId)).toMatchObject({ outputTokens: 300_000_000, cost: 75 * usd, shortfall: 0 });
    const letters = await lettersOf(metering);
    expect(letters).toHaveLength(bad.length + 1);
    for (const [record, reason] of bad) {
      const letter = await metering.deadLetters.find(toLetterId(record));
      expect(letter).toMatchObject({ charge: { requestId: record.requestId, model: record.model, ...record.tokens } });
      expect(letter?.reason).toContain(reason);
    }
    (await clock.until(metering.ledger.hold(request(account, tokens), never))).release();
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
  });

  test("a count beyond 32 bits is charged, and its receipt shows it", async () => {
    await begin();
    const cheap = models({ id: "cheap", price: { input: "0.01", output: "0.01" } });
    const metering = await start({ models: cheap });
    const wanted = request(account, { inputTokens: 10, outputTokens: 10 }, { model: "cheap" });
    const hold = await clock.until(metering.ledger.hold(wanted, never));
    await clock.until(hold.settle({ inputTokens: 3e9, outputTokens: 5e9 }, "completed"));
    const receipt = (await receipts(metering)).get(wanted.requestId);
    expect(receipt).toMatchObject({ inputTokens: 3e9, outputTokens: 5e9, cost: 80 * usd, shortfall: 0 });
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true });
  });

  test.each([
    [
      { inputTokens: 10, outputTokens: 1e300 },
      { inputTokens: 10, outputTokens: 20 },
    ],
    [
      { inputTokens: 5e10, outputTokens: 5 },
      { inputTokens: 100, outputTokens: 5 },
    ],
    [
      { inputTokens: 10, outputTokens: 7.5 },
      { inputTokens: 10, outputTokens: 7 },
    ],
    [
      { inputTokens: -3, outputTokens: 4 },
      { inputTokens: 0, outputTokens: 4 },
    ],
    [
      { inputTokens: Number.NaN, outputTokens: 4 },
      { inputTokens: 0, outputTokens: 4 },
    ],
    [
      { inputTokens: 10, outputTokens: Number.POSITIVE_INFINITY },
      { inputTokens: 10, outputTokens: 20 },
    ],
  ])("an engine's %j is charged as %j: no more than was admitted", async (counted, charged) => {
    await begin();
    const metering = await start();
    const wanted = request(account, { inputTokens: 100, outputTokens: 20 });
    const hold = await clock.until(metering.ledger.hold(wanted, never));
    hold.progress(counted);
    expect(metering.ledger.held(account)).toBeGreaterThanOrEqual(0);
    await clock.until(hold.settle(counted, "completed"));
    expect((await receipts(metering)).get(wanted.requestId)).toMatchObject(charged);
    expect(metering.ledger.held(account)).toBe(0);
    expect(metering.log.join()).toContain("can be no charge");
  });

  test("a model that is configured no more is charged at the price that it last had", async () => {
    await begin();
    const before = await openMetering({ clock, url, models: models({ id: "gone" }) });
    const poor = await before.account();
    await clock.until(before.close());
    const record = entry(poor, { inputTokens: 100, outputTokens: 0 }, { model: "gone" });
    const metering = await start({ journal: journalOf([record]).journal });
    const receipt = (await receipts(metering)).get(record.requestId);
    expect(receipt).toMatchObject({ cost: 100 * 200_000, shortfall: 100 * 200_000, status: "recovered" });
  });
});
