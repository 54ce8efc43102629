import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import type { RunFacts } from "#src/money/model/charges/settlement.ts";
import { UsageLabel } from "#src/storage/entities/metering/rollup.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { databases, dialects } from "../../databases.ts";
import { usd } from "../../fixture.ts";
import { openStore } from "./opened.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const opened = openStore(dialect, newDatabase);
  const { leaseOne, chargeTo, slice } = opened;

  test("stores each value of a charge in the column of its name", async () => {
    const account = await opened.metering.account({ paid: usd });
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
    await opened.store.settle([
      { ...usage, settledAt: 1_234_567_890_123, maxRates: rates, admitted, facts, lines: [line] },
    ]);
    const em = opened.metering.storage.orm.em.fork();
    const terms = {
      ...{ maxInputRate: rates.input, maxOutputRate: rates.output },
      ...{ admittedInputTokens: admitted.inputTokens, admittedOutputTokens: admitted.outputTokens },
    };
    expect(await em.find(Usage, {})).toEqual([
      { ...usage, ...facts, ...terms, budgetSliceId: null, settledAt: new Date(1_234_567_890_123) },
    ]);
    const bare = { ...usage, runId: v7(), labels: undefined };
    await opened.store.settle([{ ...bare, settledAt: 1, lines: [] }]);
    const none = { finish: null, delivery: null, surface: null, server: null, firstTokenMs: null, durationMs: null };
    const row = await em.findOneOrFail(Usage, { runId: bare.runId });
    expect(row).toMatchObject({ ...none, reasoningTokens: null, cachedInputTokens: null, maxInputRate: null });
    expect(row).toMatchObject({ admittedInputTokens: null, labels: null });
    const [sum, ...others] = await em.find(UsageLabel, {});
    expect(sum).toMatchObject({ accountId: account, name: "app", value: 'an "app"', hour: 342_935, requests: 1 });
    expect(others).toEqual([]);
    expect(await em.find(UsageLine, {})).toEqual([{ ...run, seq: 0, ...line }]);
  });

  test("stores a charge once, however often and in however many groups it comes", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 1000);
    const charge = chargeTo([own], 10);
    expect(await opened.store.settle([charge, charge, chargeTo([own], 5)])).toEqual(["stored", "repeated", "stored"]);
    expect(await opened.store.settle([charge])).toEqual(["repeated"]);
    expect(await slice(own.id)).toMatchObject({ granted: 1000, spent: 15 });
    expect(await opened.store.settled([charge, { ...charge, runId: v7() }])).toEqual(
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
    const [account, other] = [
      await opened.metering.account({ free: 1000 }),
      await opened.metering.account({ free: 1000 }),
    ];
    const [own, others] = [await leaseOne(account, 1000), await leaseOne(other, 1000)];
    const charges = [chargeTo([own], 10, "same"), chargeTo([own], 10, "same"), chargeTo([others], 7, "same")];
    expect(await opened.store.isCharged(account, "same")).toBe(false);
    expect(await opened.store.settle(charges.slice(0, 2))).toEqual(["stored", "stored"]);
    expect(await opened.store.isCharged(account, "same")).toBe(true);
    expect(await opened.store.isCharged(other, "same")).toBe(false);
    expect(await opened.store.settle(charges)).toEqual(["repeated", "repeated", "stored"]);
    expect(await opened.store.isCharged(other, "same")).toBe(true);
    expect([await slice(own.id), await slice(others.id)]).toMatchObject([{ spent: 20 }, { spent: 7 }]);
    expect(await opened.metering.storage.orm.em.fork().count(UsageLine, { requestId: "same" })).toBe(3);
  });

  test("fences a whole charge off when one of its slices is closed, and only that one", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const [first, second] = [await leaseOne(account, 300), await leaseOne(account, 300)];
    await opened.store.close([second.id]);
    const charges = [chargeTo([first, second], 10), chargeTo([first], 7), chargeTo([second], 1)];
    expect(await opened.store.settle(charges)).toEqual(["fenced", "stored", "fenced"]);
    expect(await slice(first.id)).toMatchObject({ spent: 7 });
    expect(await slice(second.id)).toMatchObject({ spent: 0, open: false });
    expect(await opened.metering.storage.orm.em.fork().count(UsageLine)).toBe(1);
    expect([...(await opened.store.settled(charges)).keys()]).toEqual([charges[1]?.runId]);
  });

  test("spends nothing on a repeated or fenced charge, even where the slice could not pay it too", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const [own, other] = [await leaseOne(account, 100), await leaseOne(account, 100)];
    const before = chargeTo([own], 80);
    await opened.store.settle([before]);
    await opened.store.close([other.id]);
    const group = [before, chargeTo([own, other], 5), chargeTo([own], 15), chargeTo([other], 100)];
    expect(await opened.store.settle(group)).toEqual(["repeated", "fenced", "stored", "fenced"]);
    expect(await slice(own.id)).toMatchObject({ granted: 100, spent: 95 });
    expect(await slice(other.id)).toMatchObject({ spent: 0, open: false });
    expect(await opened.metering.storage.orm.em.fork().count(UsageLine)).toBe(2);
  });

  test("keeps the texts of charges as they are", async () => {
    const own = await leaseOne(await opened.metering.account({ free: 1000 }), 1000);
    const texts = ["", 'a "quoted" one', "back\\slash\\", "comma, {brace} 'n NULL", "zwölf 🦊\n"];
    const charges = texts.map((text) => ({ ...chargeTo([own], 10, `${text}${v7()}`), keyId: text, model: text }));
    expect(await opened.store.settle(charges)).toEqual(charges.map(() => "stored"));
    for (const { requestId, lines: _lines, settledAt, ...kept } of charges) {
      const usage = await opened.metering.storage.orm.em.fork().findOneOrFail(Usage, { requestId });
      expect(usage).toMatchObject({ ...kept, settledAt: new Date(settledAt) });
    }
  });

  test("refuses a charge that can never be stored, as a violation", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 100);
    const impossible = { ...chargeTo([own], 100), model: null as never };
    const error = await opened.store.settle([impossible]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Object);
    expect(opened.store.isViolation(error)).toBe(true);
    expect(opened.store.isViolation(new Error("connection lost"))).toBe(false);
    expect(await slice(own.id)).toMatchObject({ spent: 0 });
  });

  test("a slice without room for its charges is fenced, and other charges of the group are stored", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const [full, other] = [await leaseOne(account, 100), await leaseOne(account, 100)];
    const group = [chargeTo([full], 60), chargeTo([full], 60), chargeTo([other], 60), chargeTo([full, other], 40)];
    expect(await opened.store.settle(group)).toEqual(["fenced", "fenced", "stored", "fenced"]);
    expect(await slice(full.id)).toMatchObject({ spent: 0 });
    expect(await slice(other.id)).toMatchObject({ spent: 60 });
    expect(await opened.metering.storage.orm.em.fork().count(Usage)).toBe(1);
    expect(await opened.store.settle([chargeTo([full], 100)])).toEqual(["stored"]);
  });

  test("a shortfall becomes the account's debt", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 10);
    await opened.store.settle([{ ...chargeTo([own], 10), cost: 35, shortfall: 25 }]);
    expect((await opened.metering.funds.statement(account)).debt).toBe(25n);
  });
});
