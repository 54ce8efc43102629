import { expect } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { costOf } from "#src/money/ledger/wallet/split.ts";
import { Account } from "#src/storage/entities/account.ts";
import { BudgetSlice } from "#src/storage/entities/metering/budget.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { expectBooks, proveStatement } from "../../books/bill/prove-statement.ts";
import { never, request } from "../../fixture.ts";
import type { Life } from "./life.ts";

/** Ends a life, and expects that the ledger says of it what the ledger of a few lines does. */
export async function end(life: Life): Promise<void> {
  const { clock, storage, cores, accounts, unsettled } = life;
  cores.fault = undefined;
  for (const one of life.running.splice(0)) {
    one.hold.release();
  }
  await clock.until(Promise.all(unsettled));
  // What the journal promised reaches the store, what became of lost replies is known, and free money has paid what is owed,
  // which is looked for each minute.
  await clock.advanceAsync(63_000);
  await expectCharges(life);
  await expectBudget(life);
  const hadLine = life.highestLines.some((line) => line > 0);
  const proof = await clock.until(reconcile(storage, life.ledger));
  expect(proof).toMatchObject({ ok: true, findings: [], ...(life.mayOwe || hadLine ? {} : { debtPicoUsd: "0" }) });
  for (const [at, id] of accounts.entries()) {
    expect(life.ledger.held(id)).toBe(0);
    const { balance, debt } = await life.funds().statement(id);
    expect(balance - debt).toBe(BigInt(life.balances[at] ?? 0));
    await expectDebt(life, id, { balance, debt, highestLine: life.highestLines[at] ?? 0 });
  }
  await clock.until(life.ledger.close());
  expect(await storage.orm.em.fork().count(Slice, { open: true })).toBe(0);
  expect(await storage.orm.em.fork().count(BudgetSlice, { open: true })).toBe(0);
  expect(await reconcile(storage)).toMatchObject({ ok: true });
  const [now, from] = [clock.now(), life.began - (life.began % dayMs)];
  for (const id of accounts) {
    const span = { from, to: now + dayMs - (now % dayMs), now };
    await expectBooks(storage, id, (await proveStatement(storage, id, span)).at(-1));
  }
  await storage.close();
}

/**
 * Expects that each request has its receipt, at no more and no less than any price that there was, but for a pico-USD a token:
 * what is charged anew within what was told has its rates rounded down.
 */
async function expectCharges(life: Life): Promise<void> {
  for (const { id, account, tokens, dearest, budgeted } of life.charged) {
    const receipt = await life.storage.orm.em.fork().findOneOrFail(Usage, { requestId: id });
    expect(receipt).toMatchObject(tokens);
    expect(receipt.cost).toBeLessThanOrEqual(costOf(tokens, dearest));
    const rounded = tokens.inputTokens + tokens.outputTokens;
    expect(receipt.cost).toBeGreaterThanOrEqual(costOf(tokens, life.cheapest) - rounded);
    life.move(account, -receipt.cost);
    life.budgetSpent += budgeted ? receipt.cost : 0;
  }
}

async function expectBudget(life: Life): Promise<void> {
  const { ledger, budget, budgetSpent, mayPass } = life;
  expect((await ledger.budgetState(budget)).spent).toBe(BigInt(budgetSpent));
  if (!mayPass) {
    expect(budgetSpent).toBeLessThanOrEqual(budget.limit);
    await spendRest(life);
  }
}

/** Spends what is left of the budget, as nobody but these requests needs it any more. */
async function spendRest(life: Life): Promise<void> {
  const { clock, ledger, budget, dearest } = life;
  const accountId = v7(); // the others may owe more than they have
  await life.funds().open({ id: accountId, name: "", maxKeys: 1 }, 0);
  await clock.until(life.funds().credit({ accountId, kind: "paid", amount: 5_000_000_000, reference: v7() }));
  let spent = 0;
  for (let refused = false; !refused; ) {
    const wanted = request(accountId, { inputTokens: 0, outputTokens: 900 }, { budget });
    const held = await clock.until(ledger.hold(wanted, never)).catch((error: unknown) => {
      expect(readDetail(error)?.reason).toBe(Reason.BUDGET_EXHAUSTED);
    });
    refused = held === undefined;
    const settled =
      held && (await clock.until(held.settle({ inputTokens: 0, outputTokens: held.outputTokens }, "completed")));
    spent += settled?.cost ?? 0;
  }
  await clock.advanceAsync(3000); // what the journal promised reaches the store
  const left = budget.limit - life.budgetSpent - spent;
  expect(left).toBeGreaterThanOrEqual(0);
  expect(left).toBeLessThan(64 * Math.max(dearest.input, dearest.output));
}

/** Expects that an account owes no more than its line beside what an engine's excess left, and that bought money pays it. */
async function expectDebt(
  { storage, mayOwe }: Life,
  id: string,
  { balance, debt, highestLine }: { readonly balance: bigint; readonly debt: bigint; readonly highestLine: number },
): Promise<void> {
  const { debt: excess } = await storage.orm.em.fork().findOneOrFail(Account, id);
  const owed = debt - excess;
  expect(owed).toBeLessThanOrEqual(BigInt(highestLine));
  expect(excess > 0n && !mayOwe).toBe(false);
  expect(excess > 0n && balance > 0n).toBe(false);
  // Gifts and free money pay no line. Bought money does, unless a core has leased it.
  const lots = await storage.orm.em.fork().find(Lot, { accountId: id, kind: "paid" });
  const free = lots.filter((lot) => lot.granted > lot.spent + lot.leased + lot.refunded);
  expect(owed > 0n ? free : []).toEqual([]);
}
