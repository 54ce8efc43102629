import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { OwnTerms } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import { wholePrice } from "#src/storage/entities/metering/own-prices.ts";
import type { SimulatedServer } from "../database/server.ts";
import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Customer } from "./customers.ts";
import { type Life, type Machine, modelNames, type ToldPrices } from "./machine.ts";
import { recur } from "./recur.ts";

/** A credit line that was set, or may have been. */
interface LineSet {
  readonly accountId: string;
  /** In milliseconds of the world. */
  readonly askedAt: number;
  readonly line: number;
  isDone: boolean;
  /** When it ended, or when it ends at the latest. */
  endsAt: number;
}

/** The longest time in which a line is set, in milliseconds. */
const mostSetMs = 10_000;
/** Rates of the least and the dearest fixed price. */
const [cheapest, dearest] = [50_000, 4_000_000];

/** Operators who give accounts terms of their own: prices and a credit line. */
export class Terms {
  readonly lines: LineSet[] = [];
  /** What accounts were told of their prices. */
  readonly told: ToldPrices[] = [];
  /** The own prices that were set last, by account. */
  readonly #last = new Map<string, OwnTerms>();
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #history: History;
  readonly #machines: readonly Machine[];
  readonly #customers: readonly Customer[];
  readonly #server: SimulatedServer;
  readonly #mayCost: (model: string, rates: Rates) => void;
  #end: () => void = () => {};

  /** `mayCost` is called with each price that an account may pay from now on. */
  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    history: History;
    machines: readonly Machine[];
    customers: readonly Customer[];
    server: SimulatedServer;
    mayCost: (model: string, rates: Rates) => void;
  }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#history = parts.history;
    this.#machines = parts.machines;
    this.#customers = parts.customers;
    this.#server = parts.server;
    this.#mayCost = parts.mayCost;
  }

  begin(meanMs = this.#dice.pick([300, 1000, 4000])): void {
    this.#end = recur(this.#timeline, this.#dice, meanMs, () => this.#act());
  }

  stop(): void {
    this.#end();
  }

  #act(): void {
    const { life } = this.#dice.pick(this.#machines);
    const customer = this.#dice.pick(this.#customers);
    const isPrices = this.#dice.chance(0.4);
    life?.process.reach(() => {
      if (isPrices) {
        this.#setPrices(customer, life);
      } else {
        this.#setLine(customer, life);
      }
    });
  }

  /** A discount, fixed prices, both, or the general prices again. */
  #setPrices({ accountId }: Customer, life: Life): void {
    const isDiscounted = this.#dice.chance(0.6);
    const models = modelNames.filter(() => this.#dice.chance(0.3));
    const drawn: OwnTerms = {
      discount: isDiscounted ? this.#dice.between(1, wholePrice - 1) : 0,
      fixed: new Map(models.map((model) => [model, this.#fix(model)])),
    };
    const before = this.#dice.chance(0.2) ? this.#last.get(accountId) : undefined; // which sets nothing
    const terms = before ?? drawn;
    this.#last.set(accountId, terms);
    life
      .setOwnPrices(accountId, terms)
      .then(async () => void this.told.push(await life.tellPrices(accountId)))
      .catch((error: unknown) => this.#fail("own prices", error));
  }

  #fix(model: string): Rates {
    const rates = { input: this.#dice.between(cheapest, dearest), output: this.#dice.between(cheapest, dearest) };
    this.#mayCost(model, rates);
    return rates;
  }

  /** Sets a line, raises it, lowers it below what is owed, or takes it away. */
  #setLine({ accountId, purse }: Customer, { money }: Life): void {
    const part = this.#dice.pick([0, 0.05, 0.5, 2]);
    const isBelow = this.#dice.chance(0.3);
    const owed = this.#readOwed(accountId);
    const line = Math.floor(isBelow && owed > 0 ? owed * this.#dice.fraction() : purse * part);
    const now = this.#timeline.now;
    const set: LineSet = { accountId, line, isDone: false, askedAt: now, endsAt: now + mostSetMs };
    this.lines.push(set);
    this.#history.note(`the credit line of ${accountId}, which owes ${owed}, becomes ${line}`);
    const ended = () => {
      set.endsAt = this.#timeline.now;
    };
    money.funds.setCreditLine(accountId, line).then(
      () => {
        ended();
        set.isDone = true;
      },
      (error: unknown) => {
        ended();
        this.#fail("a credit line", error);
      },
    );
  }

  #readOwed(accountId: string): number {
    const sql = "select coalesce(sum(spent - repaid), 0) as owed from lot where account_id = ? and kind = 'credit'";
    return this.#server.tables.get<{ owed: number }>(sql, accountId)?.owed ?? 0;
  }

  /** Whether the credit line of an account is being set, or was within the last `ms`. */
  setsLine(accountId: string, ms: number): boolean {
    const since = this.#timeline.now - ms;
    return this.lines.some((one) => one.accountId === accountId && one.endsAt >= since);
  }

  /** Only a database that is away, and a core that ends, may refuse it. */
  #fail(what: string, error: unknown): void {
    const reason = Reason[readDetail(error)?.reason ?? 0] ?? "";
    this.#history.note(`${what} may not be set: ${String(error)}`);
    if (reason !== "LEDGER_UNAVAILABLE" && reason !== "SHUTTING_DOWN" && !/terminated/.test((error as Error).message)) {
      this.#history.violation("reasons", `setting ${what} failed: ${(error as Error).stack}`);
    }
  }
}
