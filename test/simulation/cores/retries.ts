import { priorities } from "#src/money/model/spending-order.ts";
import type { SimulatedServer } from "../database/server.ts";
import type { Dice } from "../world/dice.ts";
import type { Timeline } from "../world/timeline.ts";
import { type Customer, usd } from "./customers.ts";
import type { Life, Machine } from "./machine.ts";
import type { Deed, Operators } from "./operators.ts";
import { recur } from "./recur.ts";

/** What an account may pay within 24 hours, in USD, and the part of it that one account has paid already. */
export const dailyCapUsd = 60;
const agedUsd = 50;
const agedPayments = 10;
const hourMs = 3_600_000;

/** ?1: the beginning of the ids, which are UUIDs; ?2: their number; ?3: now; ?4: the account; ?5: the amount of each. */
const aged = `
  with recursive one (n) as (select 1 union all select n + 1 from one where n < ?2),
  row (payment, lot, entry, lapse, at) as (select printf('%s-aaaa-8000-%012d', ?1, n), printf('%s-bbbb-8000-%012d', ?1, n),
    printf('%s-cccc-8000-%012d', ?1, n), printf('%s-dddd-8000-%012d', ?1, n), ?3 - n * 2 * ${hourMs} from one)`;

/**
 * Whoever sends movements of money again, sends another one by the name of an earlier one, and wants to pay in more than
 * 24 hours may bring.
 */
export class Retries {
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #machines: readonly Machine[];
  readonly #customers: readonly Customer[];
  readonly #operators: Operators;
  #end: () => void = () => {};

  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    machines: readonly Machine[];
    customers: readonly Customer[];
    operators: Operators;
  }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#machines = parts.machines;
    this.#customers = parts.customers;
    this.#operators = parts.operators;
  }

  begin(meanMs = this.#dice.pick([300, 1000, 4000])): void {
    this.#end = recur(this.#timeline, this.#dice, meanMs, () => this.#act());
  }

  stop(): void {
    this.#end();
  }

  /** Gives one account payments of the last hours, which have lapsed since. */
  age({ tables }: SimulatedServer): void {
    const [customer] = this.#customers;
    const now = Math.floor(this.#timeline.beginning + this.#timeline.now);
    const amount = (agedUsd / agedPayments) * usd;
    const rows = [this.#dice.uuid().slice(0, 13), agedPayments, now, customer?.accountId ?? "", amount];
    tables.run(
      `${aged} insert into payment (id, account_id, kind, amount, reference, lot_id, at)
       select payment, ?4, 'paid', ?5, payment, lot, at from row`,
      ...rows,
    );
    tables.run(
      `${aged} insert into lot (id, account_id, kind, priority, granted, spent, leased, refunded, expired,
         price_version_id, created_at, expires_at, payment_id)
       select lot, ?4, 'paid', ${priorities.paid}, ?5, 0, 0, 0, ?5, (select max(id) from price_version), at,
         at + ${hourMs}, payment from row`,
      ...rows,
    );
    for (const [id, kind, later] of [
      ["entry", "grant", 0],
      ["lapse", "expire", hourMs],
    ]) {
      tables.run(
        `${aged} insert into lot_entry (id, lot_id, kind, amount, payment_id, at)
         select ${id}, lot, '${kind}', ?5, ${kind === "grant" ? "payment" : "null"}, at + ${later} from row
         where ?4 is not null`,
        ...rows,
      );
    }
    tables.run(
      "update account set paid_total = paid_total + ?1 where id = ?2",
      agedUsd * usd,
      customer?.accountId ?? "",
    );
  }

  #act(): void {
    const { life } = this.#dice.pick(this.#machines);
    const { deeds } = this.#operators;
    const drawn = this.#dice.fraction();
    const before = deeds.length > 0 ? this.#dice.pick(deeds) : undefined;
    life?.process.reach(() => {
      if (drawn < 0.1) {
        this.#passCap(life);
      } else if (before !== undefined && isKnown(before)) {
        drawn < 0.6 ? this.#operators.move(before, life) : this.#misuse(before, life);
      }
    });
  }

  /** More than what the payments of the last hours leave to the account that has some. */
  #passCap(life: Life): void {
    const [customer] = this.#customers;
    const amount = (dailyCapUsd - agedUsd) * usd + 1;
    const { accountId = "" } = customer ?? {};
    this.#operators.move({ accountId, kind: "paid", amount, reference: this.#dice.uuid() }, life);
  }

  /** Another amount, kind or account by the name of an earlier movement. */
  #misuse({ accountId, kind, amount, reference }: Deed, life: Life): void {
    const other = this.#dice.pick(this.#customers).accountId;
    const movement = this.#dice.pick([
      { accountId, kind, amount: amount + 1, reference },
      { accountId, kind: kind === "grant" ? "paid" : "grant", amount, reference } as const,
      { accountId: other, kind, amount, reference },
    ]);
    this.#operators.move(movement, life);
  }
}

/** Whether it is known that it was done: one that is under way may still come first, or be refused. */
function isKnown({ state, mayBeLost }: Deed): boolean {
  return state === "done" && !mayBeLost;
}
