import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import type { Budget } from "#src/wire/principal.ts";
import { databases, dialects } from "../../databases.ts";
import { never, request, run, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";
import { budgetOf, openWithClock, out, output, refusalOf } from "./key-budget.ts";

// A limit that is set, raised, lowered, lifted or given another period while its key spends.

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  const open = async () => openWithClock(await newDatabase(dialect));

  test("a limit counts what the key had spent in the window before it was set, and a changed one what it spends on", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const keyId = await storeKey(metering, account);
    await clock.until(run(metering.ledger, request(account, output(400), { keyId })));
    const budget: Budget = { id: keyId, limit: 1000 * out, period: "month" };
    await clock.until(run(metering.ledger, request(account, output(100), { keyId, budget })));
    expect((await metering.ledger.budgetState(budget)).spent).toBe(BigInt(500 * out));
    const raised = { ...budget, limit: 1200 * out };
    const hold = await clock.until(
      metering.ledger.hold(request(account, output(900), { keyId, budget: raised }), never),
    );
    hold.release();
    await clock.pass(5000);
    const rest = await clock.until(
      metering.ledger.hold(request(account, output(900), { keyId, budget: raised }), never),
    );
    expect(rest.outputTokens).toBe(700);
    rest.release();
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });

  test("a lowered limit holds at once, for what was leased by the old one too", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const keyId = v7();
    const old = budgetOf(1000 * out);
    await clock.until(run(metering.ledger, request(account, output(300), { keyId, budget: old })));
    const lowered = { ...old, limit: 500 * out };
    const rest = await clock.until(
      metering.ledger.hold(request(account, output(900), { keyId, budget: lowered }), never),
    );
    expect(rest.outputTokens).toBe(200);
    await clock.until(rest.settle(output(200), "completed"));
    expect(
      await refusalOf(clock, metering.ledger.hold(request(account, output(64), { keyId, budget: lowered }), never)),
    ).toBe(Reason.BUDGET_EXHAUSTED);
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });

  test("what a request held when the limit was lowered, and gives back, counts as leased under the old one", async () => {
    const { metering, clock } = await open();
    const account = await metering.account({ paid: 10 * usd });
    const keyId = v7();
    const old = budgetOf(1000 * out);
    const lowered = { ...old, limit: 500 * out };
    const hold = (tokens: number, budget: Budget) =>
      clock.until(metering.ledger.hold(request(account, output(tokens), { keyId, budget }), never));
    await clock.until(run(metering.ledger, request(account, output(300), { keyId, budget: old })));
    const running = await hold(400, old);
    expect(
      await refusalOf(clock, metering.ledger.hold(request(account, output(100), { keyId, budget: lowered }), never)),
    ).toBe(Reason.BUDGET_HELD);
    await clock.until(running.settle(output(100), "completed"));
    const rest = await hold(900, lowered);
    expect(rest.outputTokens).toBe(100);
    await clock.until(rest.settle(output(100), "completed"));
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });

  test.each([
    ["the limit is lifted and set again", { budgetPicoUsd: null }, { budgetPicoUsd: 1000 * out }],
    ["the period is changed and changed back", { budgetPeriod: "day" }, { budgetPeriod: "total" }],
  ] as const)("when %s, what the key spent meanwhile counts", async (_, changed, restored) => {
    const { metering, clock } = await open();
    const { storage, time, ledger } = metering;
    const pepper = { version: 1, secret: "a pepper" };
    const keys = new ApiKeys({ storage, clock: time, random: systemRandom, prefix: "tg-", pepper });
    const account = await metering.account({ paid: 10 * usd });
    const { key } = await keys.create(account, "key", { budgetPicoUsd: 1000 * out });
    const spend = async (tokens: number) => {
      const { id, limits } = await keys.get(key.id);
      const { budgetPicoUsd: limit, budgetPeriod: period } = limits;
      const budget = limit && period ? { budget: { id, limit, period } } : {};
      const hold = await clock.until(ledger.hold(request(account, output(tokens), { keyId: id, ...budget }), never));
      await clock.until(hold.settle(output(hold.outputTokens), "completed"));
      return hold.outputTokens;
    };
    const update = async (facts: Parameters<typeof keys.update>[1]) => {
      await keys.update(key.id, facts);
      await clock.until(ledger.callIn(account)); // as the service of accounts does
    };
    expect(await spend(200)).toBe(200);
    await update(changed);
    expect(await spend(300)).toBe(300);
    await update(restored);
    expect(await spend(1000)).toBe(500);
    const state = await ledger.budgetState({ id: key.id, limit: 1000 * out, period: "total" });
    expect(state).toMatchObject({ spent: BigInt(1000 * out), left: 0 });
    expect(await clock.until(reconcile(storage, ledger))).toMatchObject({ ok: true, findings: [] });
    await clock.until(metering.close());
  });
});
