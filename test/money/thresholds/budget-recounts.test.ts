import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { dialects } from "../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../fixture.ts";
import { watchedMetering } from "./watched-metering.ts";

// Requests that run when their key gets a budget, or another one, hold nothing of it: once they are charged it has them.

const open = watchedMetering();
const out = 250_000;
const dayMs = 86_400_000;
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });
const limit = 1000 * out;
const noon = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;

type Watched = Awaited<ReturnType<typeof open>>;

/** Holds output tokens by a key, under the budget that it has at the moment. */
async function hold(
  { clock, keys, ledger }: Pick<Watched, "clock" | "keys"> & Pick<Metering, "ledger">,
  accountId: string,
  keyId: string,
  tokens: number,
): Promise<Hold> {
  const budget = toBudget(await keys.get(keyId));
  const asked = request(accountId, output(tokens), { keyId, ...(budget && { budget }) });
  return clock.until(ledger.hold(asked, never));
}

const prove = async ({ clock, storage, ledger }: Watched) =>
  expect(await clock.until(reconcile(storage, ledger))).toMatchObject({ ok: true, findings: [] });

/**
 * Gives a key, whose tally was made and looked at, a limit, and adds 400 tokens to that tally as a core of an older version does.
 */
async function countAsOlder(watched: Watched, keyId: string): Promise<void> {
  const { clock, keys, look, storage } = watched;
  const { accountId } = await keys.get(keyId);
  const em = storage.orm.em.fork();
  await em.execute("update usage_tally set unbudgeted = true"); // as a row is that it has made
  await keys.update(keyId, { budgetPicoUsd: limit });
  const first = await hold(watched, accountId, keyId, 200);
  await clock.until(first.settle(output(200), "completed"));
  await clock.until(look());
  await em.execute(
    `update usage_tally set requests = requests + 1, cost_high = cost_high + ?, seen = false where key_id = ?`,
    [(400 * out) / 1_000_000, keyId],
  );
  await clock.until(look());
  expect((await hold(watched, accountId, keyId, 1000)).outputTokens).toBe(300);
}

describe.each(dialects)("%s", (dialect) => {
  async function openKey(budget?: { budgetPicoUsd: number; budgetPeriod: "day" }) {
    const watched = await open(dialect, { at: noon });
    const accountId = await watched.account({ paid: 10 * usd });
    const { key } = await watched.keys.create(accountId, "key", budget ?? {});
    return { watched, accountId, keyId: key.id };
  }

  test("a late charge counts though nothing can be told of it, and is folded after that alone", async () => {
    const { watched, accountId, keyId } = await openKey();
    const { clock, keys, watch, store } = watched;
    const late = await hold(watched, accountId, keyId, 400);
    await keys.update(keyId, { budgetPicoUsd: limit });
    const first = await hold(watched, accountId, keyId, 200);
    await clock.until(first.settle(output(200), "completed"));
    await clock.until(late.settle(output(400), "completed"));
    const muteAt = (at: number) =>
      watch(store, {
        budgets: { judge: () => Promise.reject(new Error("no room for events")) },
        clock: { ...systemClock, now: () => at },
      });
    const days = (count: number) => (noon + count * dayMs) / 3_600_000;
    expect(await store.foldTallies(days(3))).toBe(0);

    await expect(clock.until(muteAt(noon + dayMs).look())).rejects.toThrow("no room");
    const rest = await hold(watched, accountId, keyId, 1000);
    expect(rest.outputTokens).toBe(400);
    rest.release();
    expect(await store.foldTallies(days(3))).toBe(0);

    await expect(clock.until(muteAt(noon + 2 * dayMs).look())).rejects.toThrow("no room");
    expect(await store.unseenTallies(10)).toEqual([]);
    expect(await store.foldTallies(days(3))).toBe(1);
    await prove(watched);
  }, 60_000);

  test.each([
    ["had no budget", undefined, { budgetPicoUsd: limit }],
    ["had no limit of a week", undefined, { budgetPicoUsd: limit, budgetPeriod: "week" }],
    ["had one of another period", { budgetPicoUsd: limit, budgetPeriod: "day" }, { budgetPeriod: "month" }],
  ] as const)(
    "what was admitted when its key %s counts once it is charged, and once only",
    async (_, before, after) => {
      const { watched, accountId, keyId } = await openKey(before);
      const { clock, keys, look, ledger } = watched;
      const late = await hold(watched, accountId, keyId, 400);
      const later = await hold(watched, accountId, keyId, 100);
      await keys.update(keyId, after);
      const first = await hold(watched, accountId, keyId, 200); // leases all of it, and counts what was charged till then
      await clock.until(first.settle(output(200), "completed"));
      await clock.until(late.settle(output(400), "completed"));
      await clock.until(look());
      await clock.until(look());
      await clock.until(later.settle(output(100), "completed"));
      await clock.until(look());
      await clock.until(look());
      const rest = await hold(watched, accountId, keyId, 1000);
      expect(rest.outputTokens).toBe(300);
      await clock.until(rest.settle(output(300), "completed"));
      await clock.until(look());
      const budget = toBudget(await keys.get(keyId));
      expect(budget && (await clock.until(ledger.budgetState(budget)))).toMatchObject({
        spent: BigInt(limit),
        left: 0,
      });
      await prove(watched);
    },
  );

  test("what the first key of a chain was admitted for counts in the budget that the next one got", async () => {
    const { watched, accountId, keyId } = await openKey();
    const { clock, keys, look } = watched;
    const late = await hold(watched, accountId, keyId, 400);
    const { key } = await keys.rotate(keyId, 3600);
    await keys.update(key.id, { budgetPicoUsd: limit });
    const first = await hold(watched, accountId, key.id, 200);
    await clock.until(first.settle(output(200), "completed"));
    await clock.until(late.settle(output(400), "completed"));
    await clock.until(look());
    expect((await hold(watched, accountId, keyId, 1000)).outputTokens).toBe(400);
    await prove(watched);
  });

  test("what a core of an older version charges late counts, though it does not say that it is outside of slices", async () => {
    const { watched, accountId, keyId } = await openKey();
    const late = await hold(watched, accountId, keyId, 100);
    await watched.clock.until(late.settle(output(100), "completed"));
    await countAsOlder(watched, keyId);
  });

  test("a look that ends before it is noted is repeated, and counts nothing twice", async () => {
    const { watched, accountId, keyId } = await openKey();
    const { clock, keys, look, watch, store } = watched;
    const late = await hold(watched, accountId, keyId, 400);
    await keys.update(keyId, { budgetPicoUsd: limit });
    const first = await hold(watched, accountId, keyId, 200);
    await clock.until(first.settle(output(200), "completed"));
    await clock.until(late.settle(output(400), "completed"));
    const dying = {
      unseenTallies: (most: number) => store.unseenTallies(most),
      markSeen: () => Promise.reject(new Error("killed")),
    };
    await expect(clock.until(watch(dying).look())).rejects.toThrow("killed");
    await clock.until(look());
    expect((await hold(watched, accountId, keyId, 1000)).outputTokens).toBe(400);
    await prove(watched);
  });

  if (dialect === "postgresql") {
    test("a count that a failover loses before its look is noted is made again by the next look", async () => {
      const { watched, accountId, keyId } = await openKey();
      const other = await watched.account({ paid: 10 * usd });
      const { clock, keys, look, watch, store, storage, spend } = watched;
      const late = await hold(watched, accountId, keyId, 400);
      await keys.update(keyId, { budgetPicoUsd: limit });
      const first = await hold(watched, accountId, keyId, 200);
      await clock.until(first.settle(output(200), "completed"));
      await clock.until(late.settle(output(400), "completed"));
      await spend(other, 10);
      const failing = {
        unseenTallies: (most: number) => store.unseenTallies(most),
        async markSeen(...seen: Parameters<typeof store.markSeen>) {
          const lose = "update budget set spent = spent - spent_outside_slices, spent_outside_slices = 0";
          await storage.orm.em.fork().execute(lose);
          await store.markSeen(...seen);
        },
      };
      await clock.until(watch(failing).look());
      expect(await clock.until(store.unseenTallies(9))).toMatchObject([{ accountId }]);
      await clock.until(look());
      expect((await hold(watched, accountId, keyId, 1000)).outputTokens).toBe(400);
      expect(await clock.until(store.unseenTallies(9))).toEqual([]);
      await prove(watched);
    });
  }

  test("the proof finds a budget that charges of its keys are missing in", async () => {
    const { watched, accountId, keyId } = await openKey();
    const { clock, keys, store, storage } = watched;
    const late = await hold(watched, accountId, keyId, 400);
    await keys.update(keyId, { budgetPicoUsd: limit });
    const first = await hold(watched, accountId, keyId, 200);
    await clock.until(late.settle(output(400), "completed"));
    await prove(watched); // it is yet to be looked at
    await clock.until(store.markSeen(await clock.until(store.unseenTallies(9))));
    const rule = "a budget has counted what its keys were charged in its window outside of its slices";
    const message = `expected ${400 * out}, found 0`;
    expect((await reconcile(storage)).findings).toMatchObject([{ rule, row: `budget ${keyId}`, message }]);
    first.release();
  });

  test("charges after the end of a window are not counted in it, though a core behind the time leases of it", async () => {
    const { watched, accountId, keyId } = await openKey({ budgetPicoUsd: limit, budgetPeriod: "day" });
    const { clock, keys, store, ledger, storage } = watched;
    const yesterday = { budgetId: keyId, windowName: `day ${noon / dayMs - 1.5}` };
    const window = { ...yesterday, windowStart: noon - 1.5 * dayMs, windowEnd: noon - dayMs / 2 };
    const today = await hold(watched, accountId, keyId, 300);
    await clock.until(today.settle(output(300), "completed"));
    await clock.until(ledger.caughtUp());
    expect(await keys.get(keyId)).toBeDefined();
    const slice = { sliceId: v7(), size: 0, step: 1, isMade: false, least: 1, most: 1, accountId };
    await clock.until(store.acquireBudget({ ...window, ...slice, limit }));
    expect(
      await storage.orm.em.fork().findOneOrFail(Budget, { id: keyId, windowName: window.windowName }),
    ).toMatchObject({ spentOutsideSlices: 0 });
    expect(await clock.until(store.budgetSpending({ ...window, limit: 1 }))).toEqual({ spent: 0n });
  });
});

test("postgresql: what a killed core ran without the budget counts from its journal, also against what another core has leased", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-recounts-"));
  const watched = await open("postgresql", { at: noon });
  const { clock, keys, look, url } = watched;
  const accountId = await watched.account({ paid: 10 * usd });
  const { key } = await keys.create(accountId, "key", {});
  const parts = { random: systemRandom, logger: silentLogger };
  const lastMoments = new ManualClock(noon);
  const noted = openJournal(directory, { clock: lastMoments, ...parts });
  const dying = await openMetering({ clock: lastMoments, url, journal: noted, coreId: noted.coreId });
  const late = await hold({ clock: lastMoments, keys, ledger: dying.ledger }, accountId, key.id, 400);
  late.progress(output(300));
  await keys.update(key.id, { budgetPicoUsd: limit });
  const first = await hold(watched, accountId, key.id, 200);
  await lastMoments.advanceAsync(1100);
  await noted.close(); // what is in the file now is all that is left
  await dying.store.end();
  await dying.storage.close();
  await clock.until(first.settle(output(200), "completed"));

  const journal = openJournal(directory, { clock, ...parts });
  const next = await openMetering({ clock, url, journal, coreId: journal.coreId });
  await clock.until(look());
  const rest = await hold(watched, accountId, key.id, 1000);
  expect(rest.outputTokens).toBe(500);
  await clock.until(rest.settle(output(500), "completed"));
  await clock.until(look());
  await prove(watched);
  await clock.until(next.close());
  rmSync(directory, { recursive: true, force: true });
}, 60_000);
