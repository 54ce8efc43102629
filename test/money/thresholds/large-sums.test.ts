import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { BudgetCensus } from "#src/money/thresholds/budget-census.ts";
import { silentLogger } from "../../support/loggers.ts";
import { dialects } from "../databases.ts";
import { models, never, request, run, usd } from "../fixture.ts";
import { tokensAUsd, watchedMetering } from "./watched-metering.ts";

const open = watchedMetering();
const noon = Date.parse("2026-06-10T12:00:00Z");
/** The dearest model that there can be, so that few requests cost more than a number holds exactly. */
const dear = models({ id: "dear", price: { input: "1000", output: "1000" } });
/** Output tokens of it that a USD pays. */
const dearTokens = 1000;
const hourMs = 3_600_000;

describe.each(dialects)("%s", (dialect) => {
  /** A key without a budget that has spent 12,000 USD: more than 2^53 pico-USD. */
  async function openSpender() {
    const watched = await open(dialect, { at: noon, models: dear });
    const { account, funds, keys, ledger, clock, look } = watched;
    const accountId = await account();
    const { key } = await keys.create(accountId, "large", {});
    for (let round = 0; round < 4; round++) {
      await funds.credit({ accountId, kind: "grant", amount: 4001 * usd, reference: v7() });
    }
    const output = { inputTokens: 0, outputTokens: 4000 * dearTokens };
    for (let round = 0; round < 3; round++) {
      await clock.until(run(ledger, request(accountId, output, { keyId: key.id, model: "dear" })));
    }
    await clock.until(look());
    return { ...watched, accountId, keyId: key.id };
  }

  test("a key that has spent more than 2^53 pico-USD is told that its new budget is spent", async () => {
    const { keys, keyId, accountId, ledger, clock, storage, told, look, crossed } = await openSpender();
    await keys.update(keyId, { budgetPicoUsd: 9000 * usd });
    const budget = toBudget(await keys.get(keyId));
    if (budget === undefined) {
      throw new Error("the key has a budget");
    }
    const spent = { spent: 12_000n * BigInt(usd), left: 0 };
    expect(await clock.until(ledger.budgetState(budget))).toMatchObject(spent);
    const asked = request(accountId, { inputTokens: 0, outputTokens: 1 }, { keyId, budget });
    const refused = clock.until(ledger.hold(asked, never)).catch((error: unknown) => readDetail(error)?.reason);
    expect(await refused).toBe(Reason.BUDGET_EXHAUSTED);
    expect(await clock.until(ledger.budgetState(budget))).toMatchObject(spent);

    // What ran without the budget is counted anew, and is more than before.
    await clock.until(
      run(ledger, request(accountId, { inputTokens: 0, outputTokens: 3 * dearTokens }, { keyId, model: "dear" })),
    );
    await clock.until(look());
    expect(await clock.until(ledger.budgetState(budget))).toMatchObject({ spent: 12_003n * BigInt(usd) });
    expect((await told(accountId)).filter(([type]) => type === "key.limit")).toMatchObject([
      ["key.limit", { percent: 80, spent_usd: "12003.00" }],
      ["key.limit", { percent: 100, spent_usd: "12003.00" }],
    ]);
    expect(crossed).toEqual([80, 100]);
    const census = { storage, clock, logger: silentLogger, counted: () => {}, lease: { hold: async () => true } };
    expect((await new BudgetCensus(census).count()).total).toEqual({ announced: { 0: 0, 80: 0, 100: 1 }, left: 0 });
    await clock.until(ledger.close());
    expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });
  }, 60_000);

  test("a window that cannot be counted keeps no other account's events and tallies back", async () => {
    const failing = new Set<string>();
    const wrap = (store: LedgerStore) => {
      const recount = store.recountBudget.bind(store);
      store.recountBudget = (window) =>
        failing.has(window.budgetId) ? Promise.reject(new Error("out of range")) : recount(window);
      return store;
    };
    const { account, keys, spend, look, told, clock, store, ledger } = await open(dialect, { at: noon, wrap });
    const ids: string[] = [];
    for (let at = 0; at < 2; at++) {
      const id = await account({ paid: 20 * usd });
      const { key } = await keys.create(id, "key", { budgetPicoUsd: usd });
      // Without its budget, so that its window is counted anew.
      const tokens = { inputTokens: 0, outputTokens: tokensAUsd };
      await clock.until(run(ledger, request(id, tokens, { keyId: key.id })));
      await spend(id, 100);
      ids.push(id);
      failing.add(at === 0 ? key.id : "");
    }
    const [bad = "", good = ""] = ids;
    await expect(clock.until(look())).rejects.toThrow("out of range");
    expect((await told(good)).map(([type, data]) => [type, data.percent])).toEqual([
      ["key.limit", 80],
      ["key.limit", 100],
    ]);
    const unseen = await clock.until(store.unseenTallies(10));
    expect([...new Set(unseen.map(({ accountId }) => accountId))]).toEqual([bad]);
    expect(await clock.until(store.foldTallies(Math.ceil(noon / hourMs) + 24))).toBe(2);

    failing.clear();
    await clock.until(look());
    expect(await told(bad)).toHaveLength(2);
    expect(await clock.until(store.unseenTallies(10))).toEqual([]);
  }, 60_000);
});
