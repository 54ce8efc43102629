import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { RunFacts } from "#src/money/model/charges/settlement.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { LeasedSlice } from "#src/money/model/store/wallet.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { UsageLabel } from "#src/storage/entities/metering/rollup.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, openMetering, usd } from "../../fixture.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const coreId = v7();
  let clock: ManualClock;
  let metering: Metering;
  let store: LedgerStore;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    store = createLedgerStore(metering.storage, systemRandom, coreId);
    await store.enter({ instance: "lock", after: 0 });
  });
  afterEach(async () => {
    await store.end();
    await clock.until(metering.close());
  });

  const lease = async (accountId: string, least: number, most = least) =>
    (await store.acquire([{ accountId, least, most }], clock.now())).get(accountId);
  const leaseOne = async (accountId: string, amount: number): Promise<LeasedSlice> => {
    const slice = (await lease(accountId, amount))?.slices[0];
    if (slice === undefined) {
      throw new Error("nothing was leased");
    }
    return slice;
  };
  const chargeTo = (slices: readonly LeasedSlice[], cost: number, requestId = v7()): Charge => ({
    ...{ requestId, runId: v7(), accountId: slices[0]?.accountId ?? v7(), keyId: "", model: "m" },
    ...{ inputTokens: 1, outputTokens: 1 },
    ...{ cost: cost * slices.length, shortfall: 0, status: "completed", settledAt: clock.now() },
    lines: slices.map(({ id, lotId }) => ({
      ...{ sliceId: id, lotId, inputTokens: 1, outputTokens: 1, inputRate: 1, outputRate: 1, cost },
    })),
  });
  const slice = (id: string) => metering.storage.orm.em.fork().findOneOrFail(Slice, id);
  const lots = () => metering.storage.orm.em.fork().find(Lot, {}, { orderBy: { id: "asc" } });

  test("stores each value of a charge in the column of its name", async () => {
    const account = await metering.account({ paid: usd });
    const { id: sliceId, lotId } = await leaseOne(account, usd);
    const run = { requestId: v7(), runId: v7() };
    const line = { sliceId, lotId, inputTokens: 11, outputTokens: 12, inputRate: 13, outputRate: 14, cost: 15 };
    const usage = {
      ...{ ...run, accountId: account, keyId: "a key", model: "a model", inputTokens: 1, outputTokens: 2 },
      ...{ cost: 19, shortfall: 4, status: "cancelled" as const },
      labels: '{"app":"an \\"app\\""}',
    };
    const rates = { input: 21, output: 22 };
    const facts: RunFacts = {
      ...{ finish: "stop" as const, delivery: "streamed" as const, surface: "chat" as const, server: 'null "a" \\' },
      ...{ firstTokenMs: 31, durationMs: 32, reasoningTokens: 33, cachedInputTokens: 34 },
    };
    const admitted = { inputTokens: 23, outputTokens: 24 };
    await store.settle([{ ...usage, settledAt: 1_234_567_890_123, maxRates: rates, admitted, facts, lines: [line] }]);
    const em = metering.storage.orm.em.fork();
    const terms = {
      ...{ maxInputRate: rates.input, maxOutputRate: rates.output },
      ...{ admittedInputTokens: admitted.inputTokens, admittedOutputTokens: admitted.outputTokens },
    };
    expect(await em.find(Usage, {})).toEqual([
      { ...usage, ...facts, ...terms, budgetSliceId: null, settledAt: new Date(1_234_567_890_123) },
    ]);
    const bare = { ...usage, runId: v7(), labels: undefined };
    await store.settle([{ ...bare, settledAt: 1, lines: [] }]);
    const none = { finish: null, delivery: null, surface: null, server: null, firstTokenMs: null, durationMs: null };
    const row = await em.findOneOrFail(Usage, { runId: bare.runId });
    expect(row).toMatchObject({ ...none, reasoningTokens: null, cachedInputTokens: null, maxInputRate: null });
    expect(row).toMatchObject({ admittedInputTokens: null, labels: null });
    const [sum, ...others] = await em.find(UsageLabel, {});
    expect(sum).toMatchObject({ accountId: account, name: "app", value: 'an "app"', hour: 342_935, requests: 1 });
    expect(others).toEqual([]);
    expect(await em.find(UsageLine, {})).toEqual([{ ...run, seq: 0, ...line }]);
  });

  test("leases what is needed over lots in the order of spending, and tells what is left", async () => {
    const account = await metering.account({ free: 100, paid: usd });
    await metering.funds.credit({ accountId: account, kind: "grant", amount: 50, reference: v7() });
    const got = await lease(account, 200);
    expect(got?.slices.map(({ kind, granted }) => [kind, granted])).toEqual([
      ["free", 100],
      ["grant", 50],
      ["paid", 50],
    ]);
    expect(got).toMatchObject({
      ...{ paidTotal: BigInt(usd), paidLeft: BigInt(usd), unleased: BigInt(usd - 50), elsewhere: 0n },
    });
    expect((await lots()).map(({ leased }) => leased).sort((a, b) => a - b)).toEqual([50, 50, 100]);
    expect(await lease(v7(), 1)).toBeUndefined();
    expect((await lease(account, 0))?.slices).toEqual([]);
  });

  test("leases no more than there is, and nothing of an expired lot", async () => {
    const account = await metering.account({ free: 100 });
    const expiresAt = new Date(clock.now() + 1000);
    await metering.funds.credit({ accountId: account, kind: "grant", amount: 70, reference: v7(), expiresAt });
    clock.jump(2000);
    expect((await lease(account, 1000))?.slices.map(({ granted }) => granted)).toEqual([100]);
    expect(await lease(account, 1000)).toMatchObject({ slices: [], unleased: 0n });
  });

  test("stores a charge once, however often and in however many groups it comes", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 1000);
    const charge = chargeTo([own], 10);
    expect(await store.settle([charge, charge, chargeTo([own], 5)])).toEqual(["stored", "repeated", "stored"]);
    expect(await store.settle([charge])).toEqual(["repeated"]);
    expect(await slice(own.id)).toMatchObject({ granted: 1000, spent: 15 });
    expect(await store.settled([charge, { ...charge, runId: v7() }])).toEqual(
      new Map([
        [
          charge.runId,
          {
            inputTokens: charge.inputTokens,
            outputTokens: charge.outputTokens,
            cost: charge.cost,
            status: "completed",
          },
        ],
      ]),
    );
  });

  test("stores each run of one request id, of one account and of several", async () => {
    const [account, other] = [await metering.account({ free: 1000 }), await metering.account({ free: 1000 })];
    const [own, others] = [await leaseOne(account, 1000), await leaseOne(other, 1000)];
    const charges = [chargeTo([own], 10, "same"), chargeTo([own], 10, "same"), chargeTo([others], 7, "same")];
    expect(await store.isCharged(account, "same")).toBe(false);
    expect(await store.settle(charges.slice(0, 2))).toEqual(["stored", "stored"]);
    expect(await store.isCharged(account, "same")).toBe(true);
    expect(await store.isCharged(other, "same")).toBe(false);
    expect(await store.settle(charges)).toEqual(["repeated", "repeated", "stored"]);
    expect(await store.isCharged(other, "same")).toBe(true);
    expect([await slice(own.id), await slice(others.id)]).toMatchObject([{ spent: 20 }, { spent: 7 }]);
    expect(await metering.storage.orm.em.fork().count(UsageLine, { requestId: "same" })).toBe(3);
  });

  test("fences a whole charge off when one of its slices is closed, and only that one", async () => {
    const account = await metering.account({ free: 1000 });
    const [first, second] = [await leaseOne(account, 300), await leaseOne(account, 300)];
    await store.close([second.id]);
    const charges = [chargeTo([first, second], 10), chargeTo([first], 7), chargeTo([second], 1)];
    expect(await store.settle(charges)).toEqual(["fenced", "stored", "fenced"]);
    expect(await slice(first.id)).toMatchObject({ spent: 7 });
    expect(await slice(second.id)).toMatchObject({ spent: 0, open: false });
    expect(await metering.storage.orm.em.fork().count(UsageLine)).toBe(1);
    expect([...(await store.settled(charges)).keys()]).toEqual([charges[1]?.runId]);
  });

  test("spends nothing on a repeated or fenced charge, even where the slice could not pay it too", async () => {
    const account = await metering.account({ free: 1000 });
    const [own, other] = [await leaseOne(account, 100), await leaseOne(account, 100)];
    const before = chargeTo([own], 80);
    await store.settle([before]);
    await store.close([other.id]);
    const group = [before, chargeTo([own, other], 5), chargeTo([own], 15), chargeTo([other], 100)];
    expect(await store.settle(group)).toEqual(["repeated", "fenced", "stored", "fenced"]);
    expect(await slice(own.id)).toMatchObject({ granted: 100, spent: 95 });
    expect(await slice(other.id)).toMatchObject({ spent: 0, open: false });
    expect(await metering.storage.orm.em.fork().count(UsageLine)).toBe(2);
  });

  test("keeps the texts of charges as they are", async () => {
    const own = await leaseOne(await metering.account({ free: 1000 }), 1000);
    const texts = ["", 'a "quoted" one', "back\\slash\\", "comma, {brace} 'n NULL", "zwölf 🦊\n"];
    const charges = texts.map((text) => ({ ...chargeTo([own], 10, `${text}${v7()}`), keyId: text, model: text }));
    expect(await store.settle(charges)).toEqual(charges.map(() => "stored"));
    for (const { requestId, lines: _lines, settledAt, ...kept } of charges) {
      const usage = await metering.storage.orm.em.fork().findOneOrFail(Usage, { requestId });
      expect(usage).toMatchObject({ ...kept, settledAt: new Date(settledAt) });
    }
  });

  test("refuses a charge that can never be stored, as a violation", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 100);
    const impossible = { ...chargeTo([own], 100), model: null as never };
    const error = await store.settle([impossible]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Object);
    expect(store.isViolation(error)).toBe(true);
    expect(store.isViolation(new Error("connection lost"))).toBe(false);
    expect(await slice(own.id)).toMatchObject({ spent: 0 });
  });

  test("gives parts back, and the rest when a slice is closed", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 600);
    await store.settle([chargeTo([own], 100)]);
    await store.giveBack([{ sliceId: own.id, granted: 400 }]);
    expect(await slice(own.id)).toMatchObject({ granted: 400, spent: 100 });
    expect(await lots()).toMatchObject([{ leased: 400, spent: 0 }]);
    await store.close([own.id, own.id]);
    await store.close([own.id]);
    expect(await lots()).toMatchObject([{ leased: 0, spent: 100 }]);
    expect(await lease(account, 5000)).toMatchObject({ slices: [{ granted: 900 }] });
  });

  test("what goes back is said as a size: late, lost or twice, it means the same", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 600);
    await store.giveBack([{ sliceId: own.id, granted: 400 }]);
    await store.giveBack([{ sliceId: own.id, granted: 400 }]);
    expect(await slice(own.id)).toMatchObject({ granted: 400 });
    await store.giveBack([{ sliceId: own.id, granted: 300 }]);
    await store.giveBack([{ sliceId: own.id, granted: 400 }]); // it comes late
    expect(await slice(own.id)).toMatchObject({ granted: 300 });
    expect(await lots()).toMatchObject([{ leased: 300, spent: 0 }]);
    expect(await store.openSlices({ accountId: account })).toMatchObject([{ granted: 300, unspent: 300 }]);
  });

  test("a slice without room for its charges is fenced, and other charges of the group are stored", async () => {
    const account = await metering.account({ free: 1000 });
    const [full, other] = [await leaseOne(account, 100), await leaseOne(account, 100)];
    const group = [chargeTo([full], 60), chargeTo([full], 60), chargeTo([other], 60), chargeTo([full, other], 40)];
    expect(await store.settle(group)).toEqual(["fenced", "fenced", "stored", "fenced"]);
    expect(await slice(full.id)).toMatchObject({ spent: 0 });
    expect(await slice(other.id)).toMatchObject({ spent: 60 });
    expect(await metering.storage.orm.em.fork().count(Usage)).toBe(1);
    expect(await store.settle([chargeTo([full], 100)])).toEqual(["stored"]);
  });

  test("a slice of a budget has the size that its core said last, whatever comes late or twice", async () => {
    const accountId = await metering.account({ free: 1000 });
    const id = v7();
    const window = { budgetId: id, accountId, windowName: "total", windowStart: 0, windowEnd: undefined, limit: 500 };
    const sliceId = v7();
    const ask = (size: number, step: number, amount: number) =>
      store.acquireBudget({ ...window, sliceId, size, step, isMade: step > 1, least: amount, most: amount });
    const budget = () => metering.storage.orm.em.fork().findOneOrFail(Budget, { id });
    expect(await ask(0, 1, 300)).toMatchObject({ size: 300, unleased: 200 });
    // The reply was lost, so the core knows of nothing yet: all of it can be had again.
    expect(await ask(0, 2, 500)).toMatchObject({ size: 500, unleased: 0 });
    await store.giveBackBudgets([{ sliceId, granted: 200, step: 3 }]);
    expect(await ask(200, 4, 100)).toMatchObject({ size: 300, unleased: 200 });
    await store.giveBackBudgets([{ sliceId, granted: 200, step: 3 }]); // it comes twice, and late
    expect(await ask(0, 2, 500)).toMatchObject({ size: undefined });
    expect(await budget()).toMatchObject({ leased: 300 });
    expect(await store.openBudgetSlices({ sliceId })).toMatchObject([{ granted: 300, unspent: 300 }]);
    await store.giveBackBudgets([{ sliceId, granted: 400, step: 5 }]); // no size makes it larger
    expect(await budget()).toMatchObject({ leased: 300 });
    await store.closeBudgets([sliceId]);
    await store.giveBackBudgets([{ sliceId, granted: 100, step: 6 }]);
    expect(await ask(300, 7, 100)).toMatchObject({ size: undefined, unleased: 500 });
    expect(await budget()).toMatchObject({ leased: 0, spent: 0 });
  });

  test("a shortfall becomes the account's debt", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 10);
    await store.settle([{ ...chargeTo([own], 10), cost: 35, shortfall: 25 }]);
    expect((await metering.funds.statement(account)).debt).toBe(25n);
  });

  test("a new epoch adopts what an earlier process left, and fences that process off", async () => {
    const account = await metering.account({ free: 1000 });
    const own = await leaseOne(account, 100);
    await store.settle([chargeTo([own], 30)]);
    const next = createLedgerStore(metering.storage, systemRandom, coreId);
    const { epoch, adopted } = await next.enter({ instance: "lock", after: 7 });
    expect(epoch).toBe(8);
    expect(adopted.find(({ id }) => id === own.id)).toMatchObject({ granted: 100, spent: 30, accountId: account });
    expect(await store.settle([chargeTo([own], 1)])).toEqual(["fenced"]);
    await store.giveBack([{ sliceId: own.id, granted: 99 }]);
    await store.close([own.id]);
    expect(await slice(own.id)).toMatchObject({ granted: 100, spent: 30, open: true });
    expect(await next.settle([chargeTo([own], 1)])).toEqual(["stored"]);
    await next.end();
  });

  test.each([["another"], [undefined]])(
    "an epoch under %s lock leaves a living one's slices alone",
    async (instance) => {
      if (dialect === "sqlite") {
        return; // the file's own lock says that every other process is dead
      }
      const account = await metering.account({ free: 1000 });
      const own = await leaseOne(account, 100);
      const next = createLedgerStore(metering.storage, systemRandom, coreId);
      expect(await next.enter({ instance, after: 0 })).toMatchObject({ epoch: 2, adopted: [] });
      expect(await store.settle([chargeTo([own], 10)])).toEqual(["stored"]);
      const both = await Promise.all([store.heartbeat(), next.heartbeat()]);
      expect(both.map(({ wasDead }) => wasDead)).toEqual([false, false]);
      // Asked again: of two beats at once neither need have seen the other.
      const older = (await next.heartbeat()).others.filter((other) => other.coreId === coreId);
      expect(older).toMatchObject([{ coreId, epoch: 1 }]);
      expect((await next.epochs()).map(({ epoch, dead }) => [epoch, dead])).toEqual([
        [2, false],
        [1, false],
      ]);
      // Its money is elsewhere for the newer one, and comes back when the older one is taken for dead.
      const seen = (await next.acquire([{ accountId: account, least: 0, most: 0 }], clock.now())).get(account);
      expect(seen).toMatchObject({ unleased: 900n, elsewhere: 90n });
      expect(await next.reap(older)).toBe(1);
      expect(await lots()).toMatchObject([{ leased: 0, spent: 10 }]);
      expect(await store.settle([chargeTo([own], 1)])).toEqual(["fenced"]);
      expect((await store.heartbeat()).wasDead).toBe(true);
      await next.end();
    },
  );

  test("an epoch begins with what it adopts, or not at all: a failover between the two would leave slices of no core", async () => {
    const account = await metering.account({ free: 1000 });
    await leaseOne(account, 100);
    const em = metering.storage.orm.em.fork();
    const refusal = {
      sqlite: ["create trigger refusal before update of epoch on slice begin select raise(abort, 'refused'); end"],
      postgresql: [
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$",
        "create trigger refusal before update of epoch on slice for each row execute function refuse()",
      ],
    };
    for (const sql of refusal[dialect]) {
      await em.execute(sql);
    }
    const next = createLedgerStore(metering.storage, systemRandom, coreId);
    await expect(next.enter({ instance: "lock", after: 0 })).rejects.toThrow("refused");
    expect(await em.execute("select epoch from core where id = ?", [coreId])).toEqual([{ epoch: 1 }]);
    await em.execute(`drop trigger refusal${dialect === "sqlite" ? "" : " on slice"}`);
    expect(await next.enter({ instance: "lock", after: 0 })).toMatchObject({
      epoch: 2,
      adopted: [{ accountId: account }],
    });
    await next.end();
  });

  test("what a core leases after a failover that lost its row, and before its next heartbeat, others get back", async () => {
    const account = await metering.account({ free: 1000 });
    const em = metering.storage.orm.em.fork();
    await em.execute("delete from core where id = ?", [coreId]);
    const budget = {
      budgetId: v7(),
      accountId: account,
      windowName: "total",
      windowStart: 0,
      windowEnd: undefined,
      limit: 500,
    };
    const ask = { ...budget, sliceId: v7(), size: 0, step: 1, isMade: false, least: 100, most: 100 };
    const own = await leaseOne(account, 100);
    await store.settle([chargeTo([own], 10)]);
    expect(await store.acquireBudget(ask)).toMatchObject({ size: 100 });
    const next = createLedgerStore(metering.storage, systemRandom, v7());
    if (dialect === "sqlite") {
      const { adopted, adoptedBudgets } = await next.enter({ instance: "lock", after: 0 });
      expect([adopted.map(({ id }) => id), adoptedBudgets]).toEqual([[own.id], [ask.sliceId]]);
      await next.close([own.id]);
      await next.closeBudgets(adoptedBudgets);
    } else {
      await next.enter({ instance: undefined, after: 0 });
      const dead = (await next.heartbeat()).others.filter((other) => other.coreId === coreId);
      expect(dead).toMatchObject([{ epoch: 1 }]);
      expect(await next.reap(dead)).toBe(1);
      expect((await store.heartbeat()).wasDead).toBe(true);
    }
    expect(await lots()).toMatchObject([{ leased: 0, spent: 10 }]);
    expect(await em.fork().findOneOrFail(Budget, { id: ask.budgetId })).toMatchObject({ leased: 0 });
    await next.end();
  });

  test("a core learns with its next heartbeat that the database has gone back to before its last one", async () => {
    if (dialect === "sqlite") {
      return; // nothing but this process can exchange the file
    }
    for (let beats = 0; beats < 3; beats++) {
      expect((await store.heartbeat()).wasDead).toBe(false);
    }
    await metering.storage.orm.em.fork().execute("update core set beats = 1 where id = ?", [coreId]);
    expect((await store.heartbeat()).wasDead).toBe(true);
    expect((await store.heartbeat()).wasDead).toBe(false);
  });

  test("a database keeps its name, and two do not share one", async () => {
    const name = await store.identify();
    expect(await createLedgerStore(metering.storage, systemRandom, v7()).identify()).toBe(name);
    const other = await openMetering({ clock, url: await newDatabase(dialect) });
    expect(await other.store.identify()).not.toBe(name);
    await clock.until(other.close());
  });

  test("many groups, leases and returns at once keep every sum", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => metering.account({ free: 100_000 })));
    const work = accounts.flatMap((account) =>
      Array.from({ length: 10 }, async () => {
        const own = await leaseOne(account, 1000);
        await store.settle([chargeTo([own], 100), chargeTo([own], 200)]);
        await store.giveBack([{ sliceId: own.id, granted: 700 }]);
        await store.settle([chargeTo([own], 50)]);
        await store.close([own.id]);
      }),
    );
    await Promise.all(work);
    for (const lot of await lots()) {
      expect(lot).toMatchObject({ leased: 0, spent: 3500 });
    }
  });
});
