import { DiskFile } from "#src/money/journal/journal-file.ts";
import { BudgetWallet } from "#src/money/ledger/budget/budget-wallet.ts";
import type { RunningHold } from "#src/money/ledger/hold.ts";
import { Refill } from "#src/money/ledger/refill/refill.ts";
import { Settlement } from "#src/money/ledger/settlement/settlement.ts";
import { OpenCharges } from "#src/money/ledger/settlement/settler/open-charges.ts";
import { Settler } from "#src/money/ledger/settlement/settler/settler.ts";
import { CachedWallet } from "#src/money/ledger/wallet/cache/cached-wallet.ts";
import { LeaseBatch } from "#src/money/ledger/wallet/cache/lease-batch.ts";
import { WaitQueue } from "#src/money/ledger/wallet/wait-queue.ts";
import { Wallet } from "#src/money/ledger/wallet/wallet.ts";
import { WalletRates } from "#src/money/ledger/wallet/wallet-rates.ts";
import type { LockedPrices } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import type { LeaseRequest } from "#src/money/model/store/wallet.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { MemoryQuotas } from "#src/money/rate-limits/memory-quotas.ts";
import { usageColumns } from "#src/money/store/usage-columns.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { chargeStatements } from "../database/charges.ts";
import { lotStatements } from "../database/lots.ts";
import type { Meaning } from "../database/statement.ts";
import { type Break, getter, method } from "./break.ts";

const { acquire } = LeaseBatch.prototype;
const { charge } = Wallet.prototype;
const { enter } = WaitQueue.prototype;
const { find } = WalletRates.prototype;
const { give } = MemoryQuotas.prototype;
const { now } = DatabaseClock.prototype;
const { release } = Settlement.prototype;
const { load } = PriceBook.prototype;
const facts = lotStatements.facts as Meaning;
/** The rates that each price book was ever asked for. */
const asked = new WeakMap<PriceBook, Set<string>>();
const settle = chargeStatements.settle as Meaning;
const requestAt = usageColumns.findIndex(({ property }) => property === "requestId");

/** Enough requests for limits to be reached on the only core. */
const busy = { trafficMs: 5, requests: 1200 };

/** Guarantees of money, prices, budgets and limits. A different judge watches each. */
export const moneyBreaks: readonly Break[] = [
  {
    name: "running requests hold nothing",
    judge: "spending",
    only: [],
    apply: getter(Wallet, "free", function (this: Wallet) {
      return this.available;
    }),
  },
  {
    name: "a wallet never runs dry",
    judge: "admissions",
    only: [],
    apply() {
      const undo = ["free", "available"].map((name) => getter(Wallet, name, () => 1e15)());
      return () => undo.map((put) => put());
    },
  },
  {
    name: "what is charged is not taken off a key's budget",
    judge: "budgets",
    seed: 4,
    settings: busy,
    only: [],
    apply: method(BudgetWallet, "spend", () => {}),
  },
  {
    name: "a limit of requests a minute lets one more in, and one more",
    judge: "requests a minute",
    seed: 36,
    settings: busy,
    only: [],
    apply: method(MemoryWindows, "admit", (_key: string, limit: number) => ({
      ...{ admitted: true, used: 0, waitMs: 0, resetAfterMs: 0, limit },
    })),
  },
  {
    name: "tokens of requests that ended do not count",
    judge: "tokens a minute",
    seed: 28,
    settings: busy,
    only: [],
    apply: method(MemoryQuotas, "give", function (this: MemoryQuotas, name: string, amount: number) {
      give.call(this, name, amount, 0);
    }),
  },
  {
    name: "a core leases less than there is",
    judge: "wrong refusals",
    only: [],
    apply: method(LeaseBatch, "acquire", function (this: LeaseBatch, request: LeaseRequest) {
      return acquire.call(this, { ...request, least: 0, most: 0 });
    }),
  },
  {
    name: "a wallet pays by higher prices than there are",
    judge: "prices",
    only: [],
    apply: method(WalletRates, "find", function (this: WalletRates, prices: LockedPrices, model: string) {
      const rates: Rates | undefined = find.call(this, prices, model);
      return rates && { input: 5 * rates.input, output: 5 * rates.output };
    }),
  },
  {
    name: "charges are stored under other requests",
    judge: "strange receipts",
    only: [],
    instead: {
      settle: (tables, values) =>
        settle(tables, values.with(requestAt, String(values[requestAt]).replaceAll('"req_', '"other_'))),
    },
  },
  {
    name: "what is owed beside free money is not paid",
    judge: "debts",
    seed: 8,
    only: [],
    apply() {
      const undo = [
        method(CachedWallet, "payDebt", async () => false)(),
        method(Wallet, "charge", function (this: Wallet, ...parameters: Parameters<typeof charge>) {
          const paid = charge.apply(this, parameters);
          return { ...paid, cost: paid.cost + 1, shortfall: paid.shortfall + 1 };
        })(),
      ];
      return () => undo.map((put) => put());
    },
    instead: { "select id from account where debt > 0": () => [] },
  },
  {
    name: "a credit line is set larger than was asked",
    judge: "lines",
    only: [],
    settings: { hasTerms: true },
    alter({ funds }) {
      const { setCreditLine } = funds;
      funds.setCreditLine = (accountId, line) => setCreditLine(accountId, line + 1);
    },
  },
  {
    name: "lots lapse by a clock that is hours ahead of the others",
    judge: "expiry",
    only: [],
    apply() {
      const undo = [
        getter(DatabaseClock, "agrees", () => true)(),
        method(DatabaseClock, "now", function (this: DatabaseClock) {
          return now.call(this) + 7_200_000;
        })(),
      ];
      return () => undo.map((put) => put());
    },
  },
  {
    name: "a payment is acknowledged before it is stored",
    judge: "deeds",
    settings: { trafficMs: 100, faultsMs: 1000 },
    seed: 4,
    only: ["lost calls"],
    alter({ funds }) {
      const { credit } = funds;
      funds.credit = async (...one) => {
        credit(...one).catch(() => {});
        return { lotId: "" };
      };
    },
  },
  {
    name: "charges are kept in mind once they are stored",
    judge: "holds",
    only: [],
    apply: method(OpenCharges, "delete", () => {}),
  },
  {
    name: "who waits for money is not woken",
    judge: "answers",
    only: [],
    apply: method(WaitQueue, "enter", function (this: WaitQueue, ...parameters: Parameters<typeof enter>) {
      const isFirst = this.empty;
      const ticket = enter.apply(this, parameters);
      return isFirst ? ticket : { ...ticket, turn: () => new Promise(() => {}) };
    }),
  },
  {
    name: "a released request frees its money twice",
    judge: "integrity",
    seed: 2,
    only: [],
    apply: method(Settlement, "release", function (this: Settlement, hold: RunningHold) {
      release.call(this, hold);
      try {
        hold.wallet.wallet.unhold(hold.amount);
      } catch {} // it is reported
    }),
  },
  {
    name: "a failure of the store is told as one of the program",
    judge: "reasons",
    only: ["lost calls"],
    apply: method(Refill, "ask", async (run: () => Promise<unknown>) => {
      try {
        return await run();
      } catch {
        throw new Error("something failed");
      }
    }),
  },
  {
    name: "a journal with damaged lines is refused",
    judge: "starts",
    seed: 11,
    only: ["rotten journal"],
    apply: method(DiskFile, "keepAside", () => {
      throw new Error("the journal is damaged");
    }),
  },
  {
    name: "a core that ends waits for ever",
    judge: "ends",
    only: [],
    apply: method(Settler, "close", () => new Promise(() => {})),
  },
  {
    name: "a request gets no more than an account's first lots",
    judge: "wrong refusals",
    seed: 34,
    only: ["many lots"],
    settings: { trafficMs: 5, requests: 400 },
    instead: { facts: (tables, values) => facts(tables, values).map((row) => ({ ...row, unleased: "0" })) },
  },
  {
    name: "what the price book forgot is read from the newest list",
    judge: "books",
    only: ["many price lists", "many lots"],
    settings: { bookSize: 4 },
    apply: method(PriceBook, "load", function (this: PriceBook, prices: LockedPrices, model: string) {
      const known = asked.get(this) ?? new Set<string>();
      asked.set(this, known);
      const name = `${prices.priceVersion} ${model}`;
      const isForgotten = known.has(name) && known.size > this.size;
      known.add(name);
      return load.call(this, isForgotten ? { ...prices, priceVersion: this.newestVersion } : prices, model);
    }),
  },
];
