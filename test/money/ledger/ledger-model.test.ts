import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createFunds } from "#src/money/books/payments/funds.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { FileJournal } from "#src/money/journal/file-journal.ts";
import type { JournalFile } from "#src/money/journal/journal-file.ts";
import { decode } from "#src/money/journal/journal-record.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import { costOf } from "#src/money/ledger/wallet/split.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { setOwnPrices } from "#src/money/prices/own-prices.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { dayMs, readKeptFrom } from "#src/money/store/kept-from.ts";
import { SqliteLedgerStore } from "#src/money/store/sqlite/store.ts";
import { Account } from "#src/storage/entities/account.ts";
import { BudgetSlice } from "#src/storage/entities/metering/budget.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Budget } from "#src/wire/principal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { expectBooks, proveStatement } from "../books/bill/prove-statement.ts";
import { models, request, testModel } from "../fixture.ts";
import { silentObserver } from "../silent-observer.ts";
import { lostReplies, mortal } from "./ledger-model/mortal-store.ts";
import { type Step, step } from "./ledger-model/steps.ts";

// Random lives of two accounts on the real ledger beside a ledger of a few lines: an amount an account, which is below 0
// while it owes, on its credit line or beyond. Which lots pay a
// charge is not its business, so while prices move, general or an account's own, it knows the most and the least that one may cost: its tokens at the
// dearest price up to its admission, and at the cheapest of all. With one price they are the same. Some requests are of a
// key with a budget: what they cost in all is known to the pico-USD, too, and the rest of it can be spent in the end. A
// statement of each life proves, and tells of each credit what the books have.

const firstRates: Rates = { input: 200_000, output: 250_000 };
const mostOf = (a: Rates, b: Rates): Rates => ({
  input: Math.max(a.input, b.input),
  output: Math.max(a.output, b.output),
});
const leastOf = (a: Rates, b: Rates): Rates => ({
  input: Math.min(a.input, b.input),
  output: Math.min(a.output, b.output),
});

const balanceRefusals = [Reason.BALANCE_EXHAUSTED, Reason.BALANCE_HELD];
const budgetRefusals = [Reason.BUDGET_EXHAUSTED, Reason.BUDGET_HELD];

interface Running {
  readonly id: string;
  readonly account: number;
  readonly input: number;
  readonly hold: Hold;
  /** The most that a token of it may cost. */
  readonly dearest: Rates;
  /** Output tokens that progress was last told of. Undefined: it was told of nothing. */
  counted: number | undefined;
  readonly budgeted: boolean;
}

/** A request whose charge was acknowledged, or is to be. */
interface Charged {
  readonly id: string;
  readonly account: number;
  readonly tokens: ChargedTokens;
  readonly dearest: Rates;
  readonly budgeted: boolean;
}

/** Everything of one life. */
async function live(steps: readonly Step[]): Promise<void> {
  const began = Date.now();
  const clock = new ManualClock(began, false);
  const storage = await openStorage("sqlite::memory:");
  if (storage.dialect !== "sqlite") {
    throw new Error("not SQLite");
  }
  const prices = await createPrices({ storage, clock, models: models() });
  const accounts = [v7(), v7()];
  const balances = [0, 0];
  const unsettled = new Set<Promise<unknown>>();
  const charged: Charged[] = [];
  let running: Running[] = [];
  /** Of all prices so far. */
  let dearest = firstRates;
  let cheapestGeneral = firstRates;
  /** Of all accounts' own prices so far. */
  const terms: OwnTerms[] = [];
  const cheapest = () =>
    terms.reduce((least, own) => leastOf(least, ownRates(cheapestGeneral, own, testModel)), cheapestGeneral);
  /** The highest credit line of each account so far. */
  const highestLines = [0, 0];
  let fault: "before" | "after" | "lost" | undefined;
  /** Whether an engine ever passed its cap, or a refund may have taken what a lost lease held: only then may something be owed. */
  let mayOwe = false;
  /** Spent by both accounts' requests with a budget, and whether that may pass it: an engine passed its cap, or a charge came after its slice was lost. */
  const budget: Budget = { id: v7(), limit: 1_500_000_003, period: "total" };
  let budgetSpent = 0;
  let mayPass = false;
  let disk = "";
  let era = 0;

  /** The store's functions whose replies are lost now. */
  const repliesLost = () => (fault === undefined || fault === "before" ? [] : lostReplies[fault]);

  const storeOf = (mine: number): LedgerStore =>
    mortal(new SqliteLedgerStore(storage.exclusive, systemRandom, "core"), {
      isDead: () => mine !== era,
      isAway: (name) => fault === "before" && name === "settle",
      losesReply: (name) => repliesLost().includes(name),
    });
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const start = async (): Promise<CoreLedger> => {
    const mine = ++era;
    const file: JournalFile = {
      path: "the journal",
      get size() {
        return disk.length;
      },
      read: () => Buffer.from(disk),
      append(text: string) {
        if (mine === era) {
          disk += text;
        }
      },
      gather: async () => {},
      sync: async () => {},
      replace(text: string) {
        if (mine === era) {
          disk = text;
        }
      },
      setAside: 0,
      keepAside() {
        throw new Error("the journal has damaged records");
      },
      close() {},
    };
    const content = decode(file.read());
    const journal = new FileJournal(file, { clock, logger, coreId: "core", content, unlock() {} });
    return clock.until(
      createLedger({
        ...{ store: storeOf(mine), debts, prices, journal, deadLetters, clock, random: systemRandom, logger },
        observer: silentObserver,
        readKeptFrom: () => readKeptFrom(storage),
      }),
    );
  };
  const debts = createDebts({ storage, clock, random: systemRandom });
  const deadLetters = new DeadLetters({ storage, clock, coreId: "core" });
  let ledger = await start();
  const fundsNow = () =>
    createFunds({
      storage,
      ledger,
      limits: { minimum: 0n, maximum: 10n ** 15n, rolling24h: 10n ** 18n },
      clock,
      random: systemRandom,
    });
  for (const id of accounts) {
    await fundsNow().open({ id, name: "", maxKeys: 1 }, 0);
  }

  const unavailable = () => (fault === "lost" ? [Reason.LEDGER_UNAVAILABLE] : []);
  const take = (which: number) => {
    const [found] = running.splice(which % Math.max(1, running.length), 1);
    return found;
  };

  const acts: { [Do in Step["do"]]: (now: Extract<Step, { do: Do }>) => Promise<void> } = {
    async credit(now) {
      await clock.until(
        fundsNow().credit({
          accountId: accounts[now.account] ?? "",
          kind: now.kind,
          amount: now.amount,
          reference: v7(),
        }),
      );
      balances[now.account] = (balances[now.account] ?? 0) + now.amount;
    },
    async refund(now) {
      const refund = fundsNow().refund({
        accountId: accounts[now.account] ?? "",
        amount: now.amount,
        reference: v7(),
      });
      const refused = await clock.until(refund).then(
        () => undefined,
        (error: unknown) => readDetail(error)?.reason,
      );
      if (refused === undefined) {
        balances[now.account] = (balances[now.account] ?? 0) - now.amount;
      } else {
        expect([Reason.REFUND_EXCEEDS_BALANCE, ...unavailable()]).toContain(refused);
      }
    },
    async hold(now) {
      const exact = Math.floor(now.input / 2);
      const wanted = request(
        accounts[now.account] ?? "",
        { inputTokens: now.input, outputTokens: now.output },
        { ...(now.counts && { countInput: async () => exact }), ...(now.budgeted && { budget }) },
      );
      const held = await clock.until(ledger.hold(wanted, new AbortController().signal)).catch((error: unknown) => {
        const refusals = [...balanceRefusals, ...(now.budgeted ? budgetRefusals : []), ...unavailable()];
        expect(refusals).toContain(readDetail(error)?.reason);
      });
      if (held === undefined) {
        return;
      }
      const input = now.counts ? exact : now.input;
      const { requestId: id } = wanted;
      running.push({
        id,
        account: now.account,
        input,
        hold: held,
        dearest,
        counted: undefined,
        budgeted: now.budgeted,
      });
    },
    async progress(now) {
      const one = running[now.which % Math.max(1, running.length)];
      if (one === undefined) {
        return;
      }
      one.counted = Math.max(one.counted ?? 0, Math.floor((one.hold.outputTokens * now.part) / 100));
      one.hold.progress({ inputTokens: one.input, outputTokens: one.counted });
    },
    async settle(now) {
      const one = take(now.which);
      if (one === undefined) {
        return;
      }
      const outputTokens = Math.max(one.counted ?? 0, Math.floor((one.hold.outputTokens * now.part) / 100));
      if (now.part > 100) {
        mayOwe = true;
        mayPass ||= one.budgeted;
      }
      unsettled.add(one.hold.settle({ inputTokens: one.input, outputTokens }, "completed"));
      const { id, account, dearest, budgeted } = one;
      charged.push({ id, account, dearest, budgeted, tokens: { inputTokens: one.input, outputTokens } });
    },
    async release(now) {
      const one = running[now.which % Math.max(1, running.length)];
      if (one?.counted === undefined) {
        take(now.which)?.hold.release(); // nothing was processed
      }
    },
    async pass(now) {
      return clock.advanceAsync(now.ms);
    },
    async fault(now) {
      fault = now.fault;
    },
    async crash() {
      fault = undefined;
      await clock.until(Promise.all(unsettled)); // what was not acknowledged may be lost; that is another test's business
      unsettled.clear();
      const died = running;
      running = [];
      ledger = await start();
      for (const one of died) {
        const receipt = await storage.orm.em.fork().findOne(Usage, { requestId: one.id });
        if (receipt === null) {
          continue;
        }
        expect(receipt).toMatchObject({ status: "recovered", inputTokens: one.input });
        if (!mayOwe) {
          expect(receipt.shortfall).toBe(0);
        }
        expect(receipt.outputTokens).toBeLessThanOrEqual(one.counted ?? 0);
        expect(receipt.cost).toBeLessThanOrEqual(costOf(receipt, one.dearest));
        balances[one.account] = (balances[one.account] ?? 0) - receipt.cost;
        budgetSpent += one.budgeted ? receipt.cost : 0;
      }
      const lost = await storage.orm.em.fork().find(Slice, { open: true });
      expect(lost.every((slice) => accounts.includes(slice.accountId))).toBe(true);
    },
    async price(now) {
      await prices.set(testModel, now.rates);
      dearest = mostOf(dearest, now.rates);
      cheapestGeneral = leastOf(cheapestGeneral, now.rates);
    },
    async "own prices"({ account: at, discount, fixed }) {
      const own = { discount, fixed: new Map(fixed === undefined ? [] : [[testModel, fixed]]) };
      terms.push(own);
      dearest = mostOf(dearest, ownRates(dearest, own, testModel));
      const accountId = accounts[at] ?? "";
      await setOwnPrices({ storage, clock, random: systemRandom }, { accountId, terms: own }, async () => {});
    },
    async line({ account: at, line }) {
      highestLines[at] = Math.max(highestLines[at] ?? 0, line);
      await clock.until(fundsNow().setCreditLine(accounts[at] ?? "", line)).catch((error: unknown) => {
        expect(unavailable()).toContain(readDetail(error)?.reason);
      });
    },
    async stop() {
      // The process sleeps past its lease, and another gives back what it has leased.
      const open = await storage.orm.em.fork().find(Slice, { open: true });
      const reaper = new SqliteLedgerStore(storage.exclusive, systemRandom, "core", { epoch: open[0]?.epoch });
      await reaper.close(open.map(({ id }) => id));
      const budgeted = await storage.orm.em.fork().find(BudgetSlice, { open: true });
      await reaper.closeBudgets(budgeted.map(({ id }) => id));
      mayOwe ||= open.length > 0;
      mayPass ||= budgeted.length > 0;
      return clock.advanceAsync(31_000);
    },
  };

  /** Expects that an account owes no more than its line beside what an engine's excess left, and that bought money pays it. */
  async function expectDebt(
    id: string,
    { balance, debt }: { readonly balance: bigint; readonly debt: bigint },
    highestLine: number,
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

  /** Spends what is left of the budget, as nobody but these requests needs it any more. */
  async function spendRest(): Promise<void> {
    const accountId = v7(); // the others may owe more than they have
    await fundsNow().open({ id: accountId, name: "", maxKeys: 1 }, 0);
    await clock.until(fundsNow().credit({ accountId, kind: "paid", amount: 5_000_000_000, reference: v7() }));
    let spent = 0;
    for (let refused = false; !refused; ) {
      const wanted = request(accountId, { inputTokens: 0, outputTokens: 900 }, { budget });
      const held = await clock.until(ledger.hold(wanted, new AbortController().signal)).catch((error: unknown) => {
        expect(readDetail(error)?.reason).toBe(Reason.BUDGET_EXHAUSTED);
      });
      refused = held === undefined;
      const settled =
        held && (await clock.until(held.settle({ inputTokens: 0, outputTokens: held.outputTokens }, "completed")));
      spent += settled?.cost ?? 0;
    }
    await clock.advanceAsync(3000); // what the journal promised reaches the store
    const left = budget.limit - budgetSpent - spent;
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(64 * Math.max(dearest.input, dearest.output));
  }

  for (const now of steps) {
    await (acts[now.do] as (now: Step) => Promise<void>)(now);
  }
  fault = undefined;
  for (const one of running.splice(0)) {
    one.hold.release();
  }
  await clock.until(Promise.all(unsettled));
  // What the journal promised reaches the store, what became of lost replies is known, and free money has paid what is owed,
  // which is looked for each minute.
  await clock.advanceAsync(63_000);
  for (const { id, account, tokens, dearest, budgeted } of charged) {
    const receipt = await storage.orm.em.fork().findOneOrFail(Usage, { requestId: id });
    expect(receipt).toMatchObject(tokens);
    expect(receipt.cost).toBeLessThanOrEqual(costOf(tokens, dearest));
    expect(receipt.cost).toBeGreaterThanOrEqual(costOf(tokens, cheapest()));
    balances[account] = (balances[account] ?? 0) - receipt.cost;
    budgetSpent += budgeted ? receipt.cost : 0;
  }
  expect((await ledger.budgetState(budget)).spent).toBe(BigInt(budgetSpent));
  if (!mayPass) {
    expect(budgetSpent).toBeLessThanOrEqual(budget.limit);
    await spendRest();
  }
  const hadLine = highestLines.some((line) => line > 0);
  const proof = await clock.until(reconcile(storage, ledger));
  expect(proof).toMatchObject({ ok: true, findings: [], ...(mayOwe || hadLine ? {} : { debtPicoUsd: "0" }) });
  for (const [at, id] of accounts.entries()) {
    expect(ledger.held(id)).toBe(0);
    const { balance, debt } = await fundsNow().statement(id);
    expect(balance - debt).toBe(BigInt(balances[at] ?? 0));
    await expectDebt(id, { balance, debt }, highestLines[at] ?? 0);
  }
  await clock.until(ledger.close());
  expect(await storage.orm.em.fork().count(Slice, { open: true })).toBe(0);
  expect(await storage.orm.em.fork().count(BudgetSlice, { open: true })).toBe(0);
  expect(await reconcile(storage)).toMatchObject({ ok: true });
  for (const id of accounts) {
    const span = { from: began - (began % dayMs), to: clock.now() + dayMs - (clock.now() % dayMs), now: clock.now() };
    await expectBooks(storage, id, (await proveStatement(storage, id, span)).at(-1));
  }
  await storage.close();
}

test("random lives end with the balances of a ledger of a few lines", async () => {
  const runs = { numRuns: Number(process.env.TOLLGATE_TEST_RUNS ?? 40), endOnFailure: true };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), live), runs);
}, 300_000);
