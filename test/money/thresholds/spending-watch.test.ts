import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { Dependencies } from "#src/money/thresholds/spending-watch.ts";
import { findSpentWindows } from "#src/money/thresholds/spent-windows.ts";
import { eventually } from "../../support/eventually.ts";
import { dialects } from "../databases.ts";
import { never, request, usd } from "../fixture.ts";
import { tokensAUsd, watchedMetering } from "./watched-metering.ts";

const open = watchedMetering();
const dayMs = 86_400_000;

describe.each(dialects)("%s", (dialect) => {
  test("a balance that falls is told of once a crossing, and again after a top-up", async () => {
    const { account, spend, look, told, pay } = await open(dialect);
    const id = await account({ paid: 5 * usd });
    await spend(id, 3.5 * tokensAUsd);
    await look();
    expect(await told(id)).toEqual([]);
    await spend(id, tokensAUsd);
    await look();
    await spend(id, 100);
    await look();
    const low = ["balance.low", { balance_usd: "0.50", threshold_usd: "1.00" }];
    expect(await told(id)).toEqual([low]);
    await spend(id, 0.5 * tokensAUsd - 100 - 63);
    await look();
    await look();
    const exhausted = ["balance.exhausted", { balance_usd: "0.00001575" }];
    expect(await told(id)).toEqual([low, exhausted]);

    await pay(id, 5 * usd);
    await spend(id, tokensAUsd);
    await look();
    expect(await told(id)).toHaveLength(2);
    await spend(id, 4 * tokensAUsd);
    await look();
    expect((await told(id)).slice(2)).toEqual([
      ["balance.low", { balance_usd: "0.00001575", threshold_usd: "1.00" }],
      ["balance.exhausted", { balance_usd: "0.00001575" }],
    ]);
  }, 60_000);

  test("a crossing is told though money comes in before anybody looks", async () => {
    const { account, spend, look, told, pay } = await open(dialect);
    const id = await account({ paid: 20 * usd });
    await spend(id, 19 * tokensAUsd);
    await pay(id, 5 * usd);
    await look();
    expect(await told(id)).toEqual([["balance.low", { balance_usd: "1.00", threshold_usd: "2.00" }]]);
  }, 60_000);

  test("the account's own threshold decides, from when it is set", async () => {
    const { account, spend, look, told, storage, balances } = await open(dialect);
    const id = await account({ paid: 5 * usd });
    const accounts = new Accounts(storage, undefined, balances);
    await spend(id, 2 * tokensAUsd);
    await look();
    await accounts.update(id, { lowBalance: 4 * usd });
    const first = ["balance.low", { balance_usd: "3.00", threshold_usd: "4.00" }];
    expect(await told(id)).toEqual([first]);
    await accounts.update(id, { lowBalance: 2 * usd });
    await spend(id, 1.5 * tokensAUsd);
    await look();
    expect(await told(id)).toEqual([first, ["balance.low", { balance_usd: "1.50", threshold_usd: "2.00" }]]);
  }, 60_000);

  test("a credit line that was taken away is told of once running requests leave the rest of it", async () => {
    const { account, ledger, funds, clock, told } = await open(dialect);
    const id = await account();
    await clock.until(funds.setCreditLine(id, 5 * usd));
    const asked = request(id, { inputTokens: 0, outputTokens: tokensAUsd });
    const running = await clock.until(ledger.hold(asked, never));
    await clock.until(funds.setCreditLine(id, 0));
    expect(await told(id)).toEqual([]);
    await clock.until(running.settle({ inputTokens: 0, outputTokens: 0 }, "completed"));
    await clock.pass(400_000);
    expect((await told(id)).map(([type]) => type)).toEqual(["balance.exhausted"]);
  }, 60_000);

  test("refunds and money that lapses are told of as well", async () => {
    const { account, funds, balances, told, time, clock, turn, storage } = await open(dialect);
    const refunded = await account({ paid: 5 * usd });
    await clock.until(funds.refund({ accountId: refunded, amount: 5 * usd, reference: v7() }));
    expect((await told(refunded)).map(([type]) => type)).toEqual(["balance.low", "balance.exhausted"]);
    const lapsing = await account();
    const expiresAt = new Date(time.now() + 10_000);
    await funds.credit({ accountId: lapsing, kind: "grant", amount: 5 * usd, reference: v7(), expiresAt });
    expect(await told(lapsing)).toEqual([]);
    await turn(12_000);
    await clock.pass(12_000);
    await expireLots({ storage, clock: time, random: systemRandom, balances });
    expect((await told(lapsing)).map(([type]) => type)).toEqual(["balance.exhausted"]);
  }, 60_000);

  test("free money alone is never told to be low, unless a threshold was set; that it is spent is told", async () => {
    const { account, spend, look, told, funds, storage, balances, pay } = await open(dialect);
    const id = await account();
    const grant = { accountId: id, kind: "grant", amount: 0.5 * usd } as const;
    await funds.credit({ ...grant, reference: v7() });
    await spend(id, 0.1 * tokensAUsd);
    await look();
    expect(await told(id)).toEqual([]);
    await new Accounts(storage, undefined, balances).update(id, { lowBalance: 0.45 * usd });
    const low = ["balance.low", { balance_usd: "0.40", threshold_usd: "0.45" }];
    expect(await told(id)).toEqual([low]);
    const other = await account();
    await funds.credit({ ...grant, accountId: other, reference: v7() });
    await spend(other, 0.5 * tokensAUsd);
    await look();
    expect((await told(other)).map(([type]) => type)).toEqual(["balance.exhausted"]);
    await pay(other, 5 * usd);
    await spend(other, 4.5 * tokensAUsd);
    await look();
    expect((await told(other)).map(([type]) => type)).toEqual(["balance.exhausted", "balance.low"]);
  }, 60_000);

  test("a key is told of at 80 % and when its budget is spent, whichever key of its chain spends it", async () => {
    const { account, spend, look, told, keys, crossed } = await open(dialect);
    const id = await account({ paid: 20 * usd });
    const { key } = await keys.create(id, "batch", { budgetPicoUsd: usd, budgetPeriod: "total" });
    await spend(id, 0.8 * tokensAUsd - 1, key.id);
    await look();
    expect(await told(id)).toEqual([]);
    await spend(id, 1, key.id);
    await look();
    await look();
    const limit = { name: "batch", limit_usd: "1.00", per: "total", resets_at: null };
    const which = ({ id: key_id, prefix, last4 }: typeof key) => ({ key_id, prefix, last4 });
    const most = ["key.limit", { ...limit, ...which(key), percent: 80, spent_usd: "0.80" }];
    expect(await told(id)).toEqual([most]);
    const { key: rotated } = await keys.rotate(key.id, 60_000);
    await spend(id, 0.2 * tokensAUsd - 63, rotated.id);
    await look();
    await look();
    const all = ["key.limit", { ...limit, ...which(rotated), percent: 100, spent_usd: "0.99998425" }];
    expect(await told(id)).toEqual([most, all]);

    await keys.update(rotated.id, { budgetPicoUsd: 2 * usd });
    await spend(id, 1.1 * tokensAUsd, rotated.id);
    await look();
    expect((await told(id)).slice(2).map(([, data]) => [data.percent, data.limit_usd])).toEqual([
      [80, "2.00"],
      [100, "2.00"],
    ]);
    expect(crossed).toEqual([80, 100, 80, 100]);
  }, 60_000);

  test("a limit that is set while an earlier one's crossing is looked at is told of all the same", async () => {
    const { account, spend, look, watch, told, keys, storage, store } = await open(dialect);
    const id = await account({ paid: 20 * usd });
    const { key } = await keys.create(id, "batch", { budgetPicoUsd: usd, budgetPeriod: "total" });
    await spend(id, tokensAUsd, key.id);
    const findWindows: Dependencies["findWindows"] = async (charged) => {
      const windows = await findSpentWindows({ storage, toBudget }, charged);
      await keys.update(key.id, { budgetPicoUsd: 2 * usd });
      return windows;
    };
    await watch(store, { findWindows }).look();
    expect(await told(id)).toEqual([]);
    await spend(id, 0.7 * tokensAUsd, key.id);
    await look();
    await spend(id, 0.3 * tokensAUsd, key.id);
    await look();
    expect((await told(id)).map(([, data]) => [data.percent, data.limit_usd])).toEqual([
      [80, "2.00"],
      [100, "2.00"],
    ]);
  }, 60_000);

  test("a budget that begins anew is told of anew, with the day on which it opens again", async () => {
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    const { account, spend, look, told, keys, clock } = await open(dialect, { at: midnight - 20_000 });
    const id = await account({ paid: 20 * usd });
    const { key } = await keys.create(id, "batch", { budgetPicoUsd: usd, budgetPeriod: "day" });
    await spend(id, tokensAUsd, key.id);
    await clock.pass(30_000);
    await spend(id, 0.9 * tokensAUsd, key.id);
    await look();
    const days = [midnight, midnight, midnight + dayMs].map((at) => new Date(at).toISOString());
    const events = await told(id);
    expect(events.map(([, { percent }]) => percent)).toEqual([80, 100, 80]);
    expect(events.map(([, data]) => data.resets_at)).toEqual(days);
  }, 60_000);

  test("nothing is told before its charge is stored", async () => {
    let isStored = false;
    const gate = Promise.withResolvers<void>();
    const wrap = (store: LedgerStore) =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (name === "settle") {
            return async (...charges: Parameters<LedgerStore["settle"]>) => {
              await gate.promise;
              isStored = true;
              return target.settle(...charges);
            };
          }
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    const { account, spend, look, told } = await open(dialect, { wrap });
    const id = await account({ paid: 5 * usd });
    const spending = spend(id, 4.5 * tokensAUsd);
    await look();
    expect(isStored).toBe(false);
    expect(await told(id)).toEqual([]);
    gate.resolve();
    await spending;
    await look();
    expect((await told(id)).map(([type]) => type)).toEqual(["balance.low"]);
  }, 60_000);

  test("two cores that look at once tell once, and one that ends before it could say so leaves it to the next", async () => {
    const { account, spend, watch, store, told } = await open(dialect);
    const ids = [await account({ paid: 5 * usd }), await account({ paid: 5 * usd })];
    for (const id of ids) {
      await spend(id, 4.5 * tokensAUsd);
    }
    const ends = {
      unseenTallies: (limit: number) => store.unseenTallies(limit),
      markSeen: () => Promise.reject(new Error("killed")),
    };
    await expect(watch(ends).look()).rejects.toThrow("killed");
    await Promise.all([watch().look(), watch().look()]);
    expect(await store.unseenTallies(10)).toEqual([]);
    for (const id of ids) {
      expect((await told(id)).map(([type]) => type)).toEqual(["balance.low"]);
    }
  }, 60_000);

  test("a tally that is charged to while it is looked at is looked at again", async () => {
    const { account, spend, store } = await open(dialect);
    const id = await account({ paid: 5 * usd });
    await spend(id, 10);
    const read = await store.unseenTallies(10);
    expect(read).toMatchObject([{ accountId: id, keyId: "", requests: 1 }]);
    await spend(id, 10);
    await store.markSeen(read);
    const again = await store.unseenTallies(10);
    expect(again).toMatchObject([{ accountId: id, requests: 2 }]);
    await store.markSeen(again);
    expect(await store.unseenTallies(10)).toEqual([]);
  }, 60_000);
});

test("a crossing that is told, and that a failover into the past loses before its look is noted, is told by the next look", async () => {
  const { account, spend, look, watch, store, storage, told } = await open("postgresql");
  const id = await account({ paid: 5 * usd });
  await spend(id, 4.5 * tokensAUsd);
  const failing = {
    unseenTallies: (most: number) => store.unseenTallies(most),
    async markSeen(...[tallies, counted, turns = 0]: Parameters<typeof store.markSeen>) {
      await storage.orm.em.fork().execute("delete from event; update account set balance_told = 'ample'");
      await store.markSeen(tallies, counted, turns - 1); // the database has changed hands since
    },
  };
  await watch(failing).look();
  expect(await told(id)).toEqual([]);
  await look();
  expect((await told(id)).map(([type]) => type)).toEqual(["balance.low"]);
  expect(await store.unseenTallies(9)).toEqual([]);
}, 60_000);

test("what another core leases of a budget while its crossing is told stays leased", async () => {
  const { account, spend, look, told, keys, storage } = await open("postgresql");
  const id = await account({ paid: 20 * usd });
  const { key } = await keys.create(id, "batch", { budgetPicoUsd: usd, budgetPeriod: "total" });
  await spend(id, 0.9 * tokensAUsd, key.id);
  const ask = <Row>(sql: string) => storage.orm.em.fork().execute<Row[]>(sql);
  const [before] = await ask<{ leased: string }>("select leased from budget");
  const other = storage.orm.em.fork();
  await other.begin();
  await other.execute("select leased from budget for update");
  const looked = look();
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await eventually("the budget's row is waited for", async () => (await ask(waiting)).length > 0);
  await other.execute("update budget set leased = leased + 7");
  await other.commit();
  await looked;
  expect(await told(id)).toMatchObject([["key.limit", { percent: 80 }]]);
  const [after] = await ask<{ leased: string }>("select leased from budget");
  expect(BigInt(after?.leased ?? 0)).toBe(BigInt(before?.leased ?? 0) + 7n);
}, 60_000);
