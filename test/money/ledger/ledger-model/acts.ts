import { expect } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { costOf } from "#src/money/ledger/wallet/split.ts";
import { setOwnPrices } from "#src/money/prices/own-prices.ts";
import { SqliteLedgerStore } from "#src/money/store/sqlite/store.ts";
import { BudgetSlice } from "#src/storage/entities/metering/budget.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { never, request, testModel } from "../../fixture.ts";
import type { Life, Running } from "./life.ts";
import type { Step } from "./steps.ts";

const balanceRefusals = [Reason.BALANCE_EXHAUSTED, Reason.BALANCE_HELD];
const budgetRefusals = [Reason.BUDGET_EXHAUSTED, Reason.BUDGET_HELD];
const unavailable = ({ cores }: Life) => (cores.fault === "lost" ? [Reason.LEDGER_UNAVAILABLE] : []);

/** Lives one step. */
export function act(life: Life, step: Step): Promise<void> {
  return (acts[step.do] as (life: Life, step: Step) => Promise<void>)(life, step);
}

const acts: { [Do in Step["do"]]: (life: Life, now: Extract<Step, { do: Do }>) => Promise<void> } = {
  async credit(life, { account, kind, amount }) {
    const accountId = life.accounts[account] ?? "";
    await life.clock.until(life.funds().credit({ accountId, kind, amount, reference: v7() }));
    life.move(account, amount);
  },

  async refund(life, { account, amount }) {
    const refund = life.funds().refund({ accountId: life.accounts[account] ?? "", amount, reference: v7() });
    const refused = await life.clock.until(refund).then(
      () => undefined,
      (error: unknown) => readDetail(error)?.reason,
    );
    if (refused === undefined) {
      life.move(account, -amount);
    } else {
      expect([Reason.REFUND_EXCEEDS_BALANCE, ...unavailable(life)]).toContain(refused);
    }
  },

  async hold(life, { account, input, output, counts, budgeted }) {
    const { clock, ledger, budget, dearest } = life;
    const exact = Math.floor(input / 2);
    const wanted = request(
      life.accounts[account] ?? "",
      { inputTokens: input, outputTokens: output },
      { ...(counts && { countInput: async () => exact }), ...(budgeted && { budget }) },
    );
    const hold = await clock.until(ledger.hold(wanted, never)).catch((error: unknown) => {
      const refusals = [...balanceRefusals, ...(budgeted ? budgetRefusals : []), ...unavailable(life)];
      expect(refusals).toContain(readDetail(error)?.reason);
    });
    if (hold !== undefined) {
      const held = { id: wanted.requestId, account, input: counts ? exact : input, hold };
      life.running.push({ ...held, dearest, counted: undefined, budgeted });
    }
  },

  async progress({ running }, { which, part }) {
    const one = running[which % Math.max(1, running.length)];
    if (one !== undefined) {
      one.counted = countAt(one, part);
      one.hold.progress({ inputTokens: one.input, outputTokens: one.counted });
    }
  },

  async settle(life, { which, part }) {
    const one = life.take(which);
    if (one === undefined) {
      return;
    }
    const { id, account, input, dearest, budgeted } = one;
    if (part > 100) {
      life.mayOwe = true;
      life.mayPass ||= budgeted;
    }
    const tokens = { inputTokens: input, outputTokens: countAt(one, part) };
    life.unsettled.add(one.hold.settle(tokens, "completed"));
    life.charged.push({ id, account, dearest, budgeted, tokens });
  },

  async release(life, { which }) {
    const one = life.running[which % Math.max(1, life.running.length)];
    if (one?.counted === undefined) {
      life.take(which)?.hold.release(); // nothing was processed
    }
  },

  pass: ({ clock }, { ms }) => clock.advanceAsync(ms),

  async fault({ cores }, { fault }) {
    cores.fault = fault;
  },

  async crash(life) {
    const { clock, cores, storage, accounts } = life;
    cores.fault = undefined;
    await clock.until(Promise.all(life.unsettled)); // what was not acknowledged may be lost; that is another test's business
    life.unsettled.clear();
    const died = life.running.splice(0);
    life.ledger = await cores.start();
    for (const one of died) {
      const receipt = await storage.orm.em.fork().findOne(Usage, { requestId: one.id });
      if (receipt !== null) {
        expectRecovered(life, one, receipt);
        life.move(one.account, -receipt.cost);
        life.budgetSpent += one.budgeted ? receipt.cost : 0;
      }
    }
    const lost = await storage.orm.em.fork().find(Slice, { open: true });
    expect(lost.every(({ accountId }) => accounts.some((id) => id === accountId))).toBe(true);
  },

  async price(life, { rates }) {
    await life.prices.set(testModel, rates);
    life.notePrice(rates);
  },

  async "own prices"(life, { account, discount, fixed }) {
    const { storage, clock, accounts } = life;
    const terms = { discount, fixed: new Map(fixed === undefined ? [] : [[testModel, fixed]]) };
    life.noteTerms(terms);
    const random = systemRandom;
    await setOwnPrices({ storage, clock, random }, { accountId: accounts[account] ?? "", terms }, async () => {});
  },

  async line(life, { account, line }) {
    life.highestLines[account] = Math.max(life.highestLines[account] ?? 0, line);
    const setting = life.funds().setCreditLine(life.accounts[account] ?? "", line);
    await life.clock.until(setting).catch((error: unknown) => {
      expect(unavailable(life)).toContain(readDetail(error)?.reason);
    });
  },

  /** The process sleeps past its lease, and another gives back what it has leased. */
  async stop(life) {
    const { storage, clock } = life;
    const open = await storage.orm.em.fork().find(Slice, { open: true });
    const reaper = new SqliteLedgerStore(storage.exclusive, systemRandom, "core", { epoch: open[0]?.epoch });
    await reaper.close(open.map(({ id }) => id));
    const budgeted = await storage.orm.em.fork().find(BudgetSlice, { open: true });
    await reaper.closeBudgets(budgeted.map(({ id }) => id));
    life.mayOwe ||= open.length > 0;
    life.mayPass ||= budgeted.length > 0;
    return clock.advanceAsync(31_000);
  },
};

/** Output tokens at a part of the cap, in per cent: engines never count backwards. */
const countAt = ({ counted = 0, hold }: Running, part: number) =>
  Math.max(counted, Math.floor((hold.outputTokens * part) / 100));

/** Expects that a request of a core that died was charged for no more than it was known to have used. */
function expectRecovered({ mayOwe }: Life, one: Running, receipt: Usage): void {
  expect(receipt).toMatchObject({ status: "recovered", inputTokens: one.input });
  if (!mayOwe) {
    expect(receipt.shortfall).toBe(0);
  }
  expect(receipt.outputTokens).toBeLessThanOrEqual(one.counted ?? 0);
  expect(receipt.cost).toBeLessThanOrEqual(costOf(receipt, one.dearest));
}
