import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { databases } from "../../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../../fixture.ts";

// Several cores on one PostgreSQL.

const inRate = 200_000;
const out = 250_000;
const newDatabase = databases();

let clock: ManualClock;
let url: string;
let cores: Metering[];
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  url = await newDatabase("postgresql");
  cores = [];
  for (let at = 0; at < 2; at++) {
    cores.push(await openMetering({ clock, url }));
  }
});
afterEach(async () => {
  for (const core of cores) {
    await clock.until(core.close());
  }
});
const core = (at: number) => {
  const found = cores[at];
  if (found === undefined) {
    throw new Error("no such core");
  }
  return found;
};

/** A store that fails whatever it is asked for while it is away. */
const unreachable = (store: LedgerStore, isAway: () => boolean): LedgerStore =>
  new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "isViolation") {
        return value;
      }
      return async (...parameters: unknown[]) => {
        if (isAway()) {
          throw new Error("the store is away");
        }
        return value.apply(target, parameters);
      };
    },
  });

/** Has a core take all the others for dead. Returns how many slices it gave back. */
const reapOthers = async (at: number) => {
  const { store } = core(at);
  return store.reap((await store.heartbeat()).others);
};

test("two cores and 200 concurrent requests spend the last cent once", async () => {
  const account = await core(0).account({ paid: usd });
  await core(0).funds.refund({ accountId: account, amount: usd - usd / 100, reference: v7() });
  let charged = 0;
  const attempt = async (_: unknown, at: number) => {
    const hold = await core(at % 2).ledger.hold(request(account, { inputTokens: 1000, outputTokens: 1000 }), never);
    await hold.settle({ inputTokens: 1000, outputTokens: hold.outputTokens }, "completed");
    charged += 1000 * inRate + hold.outputTokens * out;
  };
  const results = await clock.until(Promise.allSettled(Array.from({ length: 200 }, attempt)));
  expect(results.some((result) => result.status === "fulfilled")).toBe(true);
  expect(charged).toBeLessThanOrEqual(usd / 100);
  expect((await core(0).funds.statement(account)).balance).toBe(BigInt(usd / 100 - charged));
  expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
});

test("the same payment through two cores at once is one lot", async () => {
  const account = await core(0).account();
  const other = await core(0).account();
  const payment = { accountId: account, kind: "paid" as const, amount: usd, reference: "one" };
  const lots = await Promise.all(Array.from({ length: 50 }, (_, at) => core(at % 2).funds.credit(payment)));
  expect(new Set(lots.map(({ lotId }) => lotId)).size).toBe(1);
  const racing = [account, other].map((accountId, at) =>
    core(at).funds.credit({ ...payment, accountId, reference: "two" }),
  );
  const results = await Promise.allSettled(racing);
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
});

test("what a dead core had leased is given back, and what it still sends is charged anew", async () => {
  const account = await core(0).account({ paid: usd });
  const hold = await core(0).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
  expect(await reapOthers(1)).toBe(1);
  await clock.until(hold.settle({ inputTokens: 0, outputTokens: 1000 }, "completed"));
  expect(core(0).log.join()).toContain("after its slices were lost");
  expect((await core(0).funds.statement(account)).balance).toBe(BigInt(usd - 1000 * out));
  expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, receipts: 1n, debtPicoUsd: "0" });
});

test("a late charge that nothing is left for becomes debt, not somebody else's money", async () => {
  const account = await core(0).account({ free: 1000 * out });
  const hold = await core(0).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
  await reapOthers(1);
  const other = await core(1).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
  await clock.until(hold.settle({ inputTokens: 0, outputTokens: 1000 }, "completed"));
  await clock.until(other.settle({ inputTokens: 0, outputTokens: 1000 }, "completed"));
  expect(await core(0).funds.statement(account)).toMatchObject({ balance: 0n, debt: BigInt(1000 * out) });
  expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, receipts: 2n });
});

test("a core that was suspended past its lease admits nothing until it has beaten again", async () => {
  const account = await core(0).account({ paid: usd });
  (await core(0).ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never)).release();
  const suspended = clock.monotonic();
  // Only the clock moves on: nothing of this core runs meanwhile.
  Object.defineProperty(clock, "monotonic", { value: () => suspended + 40_000, configurable: true });
  const refused = core(0).ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never);
  await expect(refused).rejects.toThrow();
  await refused.catch((error: unknown) => expect(readDetail(error)?.reason).toBe(Reason.LEDGER_UNAVAILABLE));
  Reflect.deleteProperty(clock, "monotonic");
});

describe("a core that did not reach the store for longer than its lease", () => {
  let away: boolean;
  let cutOff: Metering;
  let account: string;
  let hold: Hold;
  beforeEach(async () => {
    away = false;
    cutOff = await openMetering({ clock, url, wrap: (store) => unreachable(store, () => away) });
    cores.push(cutOff);
    account = await core(0).account({ paid: usd });
    hold = await cutOff.ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
    away = true;
    await clock.pass(30_000);
  });

  test("admits nothing, and charges what it had leased if nobody took it meanwhile", async () => {
    const refused = await cutOff.ledger
      .hold(request(account, { inputTokens: 0, outputTokens: 1 }), never)
      .catch(readDetail);
    expect(refused).toMatchObject({ reason: Reason.LEDGER_UNAVAILABLE, retryAfter: { seconds: 1n } });
    const settled = hold.settle({ inputTokens: 0, outputTokens: 1000 }, "completed");
    away = false;
    await clock.until(settled);
    await clock.pass(2000);
    expect(cutOff.log.join()).not.toContain("after its slices were lost");
    expect((await core(0).funds.statement(account)).balance).toBe(BigInt(usd - 1000 * out));
    expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
    (await cutOff.ledger.hold(request(account, { inputTokens: 0, outputTokens: 1 }), never)).release();
  });

  test("finds other money for what it had held when others took its slices, and owes nothing", async () => {
    expect(await reapOthers(1)).toBe(1);
    away = false;
    await clock.pass(2000);
    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 1000 }, "completed"));
    expect((await core(0).funds.statement(account)).balance).toBe(BigInt(usd - 1000 * out));
    expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
  });
});

test("a core that others took for dead learns it with its next answered beat, and only then counts as alive again", async () => {
  const [first, second] = [core(0).store, core(1).store];
  const seen = (await second.heartbeat()).others;
  expect(seen).toHaveLength(1);
  await second.reap(seen);
  expect((await second.heartbeat()).others).toEqual([]);
  expect((await first.heartbeat()).wasDead).toBe(true);
  expect((await first.heartbeat()).wasDead).toBe(false);
  expect((await second.heartbeat()).others).toHaveLength(1);
  await second.reap(seen); // it has beaten since
  expect((await first.heartbeat()).wasDead).toBe(false);
});

test("the same request id on two cores is charged for each run", async () => {
  const account = await core(0).account({ paid: usd });
  const wanted = request(account, { inputTokens: 10, outputTokens: 10 });
  const holds = await Promise.all([core(0), core(1)].map(({ ledger }) => ledger.hold(wanted, never)));
  await clock.until(Promise.all(holds.map((hold) => hold.settle({ inputTokens: 10, outputTokens: 10 }, "completed"))));
  expect(await core(0).storage.orm.em.fork().count(Usage, { requestId: wanted.requestId })).toBe(2);
  expect((await core(0).funds.statement(account)).balance).toBe(BigInt(usd - 2 * 10 * (inRate + out)));
  expect(await reconcile(core(0).storage)).toMatchObject({ ok: true, receipts: 2n });
});

test("what a core does not hold goes to the core that needs it", async () => {
  const account = await core(0).account({ free: 1000 * out });
  (await core(0).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never)).release();
  await clock.pass(4000); // poor and idle: the first core has given everything back
  const hold = await core(1).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
  expect(hold.outputTokens).toBe(1000);
  const waiting = core(0).ledger.hold(request(account, { inputTokens: 0, outputTokens: 1000 }), never);
  await clock.pass(1000);
  hold.release();
  const outcome = await clock.until(waiting).then(
    () => "admitted",
    (error: unknown) => readDetail(error)?.reason,
  );
  expect(["admitted", Reason.BALANCE_HELD]).toContain(outcome);
});

test("what other cores have leased and do not hold is called in by the core that needs it", async () => {
  const account = await core(0).account({ paid: usd });
  const worst = { inputTokens: 0, outputTokens: usd / 4 / out };
  for (const at of [0, 1, 1]) {
    (await clock.until(core(at).ledger.hold(request(account, worst), never))).release();
  }
  const all = { inputTokens: 0, outputTokens: usd / out };
  for (const at of [0, 1]) {
    const before = clock.monotonic();
    const hold = await clock.until(core(at).ledger.hold(request(account, all), never));
    expect([hold.outputTokens, clock.monotonic() - before]).toEqual([all.outputTokens, expect.closeTo(500, -3)]);
    hold.release();
  }
});

test("a refund gets at what another core has leased but does not hold", async () => {
  const account = await core(0).account({ paid: 10 * usd });
  (await core(1).ledger.hold(request(account, { inputTokens: 1, outputTokens: 10 }), never)).release();
  await clock.until(core(0).funds.refund({ accountId: account, amount: 10 * usd, reference: v7() }));
  expect((await core(0).funds.statement(account)).balance).toBe(0n);
});

test("what a core announces all listeners of the other cores hear, and none of its own", async () => {
  const heard: string[] = [];
  const listeners = ["one", "two"].map((name) => (id: string | undefined) => void heard.push(`${name} ${id}`));
  for (const listener of [...listeners, ...listeners]) {
    await core(1).store.listen(listener);
  }
  await core(0).store.listen(() => heard.push("its own"));
  await core(0).store.announce("id");
  await eventually("both hear it", () => heard.length >= 2);
  expect(heard).toEqual(["one id", "two id"]);
});

test("a top-up through one core changes the standing on the others", async () => {
  const account = await core(0).account({ free: usd });
  expect(await core(1).ledger.fundingState(account)).toMatchObject({ freeOnly: true });
  await core(0).funds.credit({ accountId: account, kind: "paid", amount: usd, reference: v7() });
  await eventually("the other core hears of it", async () => !(await core(1).ledger.fundingState(account)).freeOnly);
  expect(await core(1).ledger.fundingState(account)).toMatchObject({ freeOnly: false, paidTotal: BigInt(usd) });
});

test("leases that a failover has opened again are given back within seconds", async () => {
  const { account, ledger, storage } = core(0);
  const id = await account({ paid: usd });
  const hold = await clock.until(ledger.hold(request(id, { inputTokens: 0, outputTokens: 10 }), never));
  const em = storage.orm.em.fork();
  await em.execute(
    `insert into slice select (jsonb_populate_record(null::slice, to_jsonb(slice) || ?::jsonb)).* from slice where account_id = ?`,
    [JSON.stringify({ id: v7(), granted: 1000, spent: 0 }), id],
  );
  await em.execute("update lot set leased = leased + 1000 where account_id = ?", [id]);
  expect(await clock.until(ledger.unknownSlices())).toHaveLength(1);
  const { history } = storage as PostgresqlStorage;
  Object.defineProperty(history, "turns", { value: history.turns + 1 }); // a standby has become the primary
  await clock.pass(2000);
  expect(await clock.until(ledger.unknownSlices())).toEqual([]);
  hold.release();
});
