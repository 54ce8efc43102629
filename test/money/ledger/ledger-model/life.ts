import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createFunds } from "#src/money/books/payments/funds.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import type { Funds } from "#src/money/model/payments.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { SqliteStorage } from "#src/storage/storage.ts";
import type { Budget } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { models, testModel } from "../../fixture.ts";
import { Cores } from "./cores.ts";

/** A request that runs. */
export interface Running {
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
export interface Charged {
  readonly id: string;
  readonly account: number;
  readonly tokens: ChargedTokens;
  readonly dearest: Rates;
  readonly budgeted: boolean;
}

const firstRates: Rates = { input: 200_000, output: 250_000 };

/**
 * A life on the real ledger, beside a ledger of a few lines: an amount an account, which is below 0 while it owes, on its
 * credit line or beyond.
 */
export class Life {
  readonly began: number;
  readonly clock: ManualClock;
  readonly storage: SqliteStorage;
  readonly prices: PriceList;
  readonly cores: Cores;
  /** The core that runs. */
  ledger: CoreLedger;
  readonly accounts = [v7(), v7()] as const;
  readonly balances = [0, 0];
  /** The highest credit line of each account so far. */
  readonly highestLines = [0, 0];
  /** Settlements that may not have been acknowledged. */
  readonly unsettled = new Set<Promise<unknown>>();
  readonly charged: Charged[] = [];
  readonly running: Running[] = [];
  /** Of both accounts' requests with a budget. */
  readonly budget: Budget = { id: v7(), limit: 1_500_000_003, period: "total" };
  budgetSpent = 0;
  /** Whether the budget may be passed: an engine passed its cap, or a charge came after its slice was lost. */
  mayPass = false;
  /** Whether an engine ever passed its cap, or a refund may have taken what a lost lease held: only then may something be owed. */
  mayOwe = false;
  /** Of all prices so far, an account's own, too. */
  dearest = firstRates;
  #cheapestGeneral = firstRates;
  readonly #terms: OwnTerms[] = [];

  private constructor(parts: Pick<Life, "began" | "clock" | "storage" | "prices" | "cores" | "ledger">) {
    this.began = parts.began;
    this.clock = parts.clock;
    this.storage = parts.storage;
    this.prices = parts.prices;
    this.cores = parts.cores;
    this.ledger = parts.ledger;
  }

  /** Opens two accounts on a core. */
  static async begin(): Promise<Life> {
    const began = Date.now();
    const clock = new ManualClock(began, false);
    const storage = await openStorage("sqlite::memory:");
    if (storage.dialect !== "sqlite") {
      throw new Error("not SQLite");
    }
    const prices = await createPrices({ storage, clock, models: models() });
    const cores = new Cores({ clock, storage, prices });
    const life = new Life({ began, clock, storage, prices, cores, ledger: await cores.start() });
    for (const id of life.accounts) {
      await life.funds().open({ id, name: "", maxKeys: 1 }, 0);
    }
    return life;
  }

  /** The accounts' money, at the core that runs. */
  funds(): Funds {
    const { storage, ledger, clock } = this;
    const limits = { minimum: 0n, maximum: 10n ** 15n, rolling24h: 10n ** 18n };
    return createFunds({ storage, ledger, limits, clock, random: systemRandom });
  }

  /** An account has so many pico-USD more. */
  move(account: number, by: number): void {
    this.balances[account] = (this.balances[account] ?? 0) + by;
  }

  /** Takes a request from those that run. Undefined: none does. */
  take(which: number): Running | undefined {
    const [found] = this.running.splice(which % Math.max(1, this.running.length), 1);
    return found;
  }

  /** General prices are others from now on. */
  notePrice(rates: Rates): void {
    this.dearest = mostOf(this.dearest, rates);
    this.#cheapestGeneral = leastOf(this.#cheapestGeneral, rates);
  }

  /** An account has own prices from now on. */
  noteTerms(own: OwnTerms): void {
    this.#terms.push(own);
    this.dearest = mostOf(this.dearest, ownRates(this.dearest, own, testModel));
  }

  /** Of all prices so far, with all own prices. */
  get cheapest(): Rates {
    const general = this.#cheapestGeneral;
    return this.#terms.reduce((least, own) => leastOf(least, ownRates(general, own, testModel)), general);
  }
}

const mostOf = (a: Rates, b: Rates): Rates => ({
  input: Math.max(a.input, b.input),
  output: Math.max(a.output, b.output),
});
const leastOf = (a: Rates, b: Rates): Rates => ({
  input: Math.min(a.input, b.input),
  output: Math.min(a.output, b.output),
});
