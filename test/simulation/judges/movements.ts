import { usd } from "../cores/customers.ts";
import { dailyCapUsd } from "../cores/retries.ts";
import type { World } from "../world.ts";

const dayMs = 86_400_000;

/** What was paid in within the 24 hours up to each payment. */
const listen = `
  create temp table paid_in (reference text primary key, day_sum integer not null);
  create temp trigger payment_is_made after insert on main.payment when new.kind = 'paid' begin
    insert or replace into paid_in
    select new.reference, sum(amount) from main.payment
    where account_id = new.account_id and kind = 'paid' and at > new.at - ${dayMs} and at <= new.at;
  end;`;

/** Judges money that comes in and goes back: it stays recorded as it was answered, within the bounds of a day. */
export class MovementJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.server.listen(listen, ["paid_in"]);
  }

  judge(): void {
    this.#judgeDeeds();
    this.#judgeRefunds();
    if (this.#world.retries !== undefined && !this.#world.clocksMoved) {
      this.#judgeDays();
    }
  }

  #judgeDeeds(): void {
    const { server, operators, history } = this.#world;
    const rows = server.tables.all<{ reference: string; made: string }>(
      "select reference, kind || ' of ' || amount || ' of ' || account_id as made from payment",
    );
    const stored = new Map(rows.map(({ reference, made }) => [reference, made]));
    for (const { reference, amount, state, kind, accountId, mayBeLost } of operators.deeds) {
      const found = stored.get(reference);
      const asked = `${kind} of ${amount} of ${accountId}`;
      if (state === "done" && !mayBeLost && found !== asked) {
        history.violation("deeds", `a ${asked} was acknowledged and is ${found ?? "nowhere"}`);
      }
      if (state === "refused" && found !== undefined) {
        history.violation("deeds", `a ${asked} was refused and is there`);
      }
    }
  }

  /** What goes back is what was paid in, or what is called back of a credit line, never a gift. */
  #judgeRefunds(): void {
    const { server, history } = this.#world;
    const gifts = server.tables.all<{ id: string; kind: string; amount: number }>(
      `select lot.id, lot.kind, amount from lot_entry join lot on lot.id = lot_id
       where lot_entry.kind = 'refund' and lot.kind in ('free', 'grant')`,
    );
    for (const { id, kind, amount } of gifts) {
      history.violation("deeds", `a refund took ${amount} of lot ${id}, which is ${kind}`);
    }
  }

  #judgeDays(): void {
    const { server, history } = this.#world;
    const beyond = server.tables.all<{ reference: string; sum: number }>(
      "select reference, day_sum as sum from temp.paid_in where day_sum > ?",
      dailyCapUsd * usd,
    );
    for (const { reference, sum } of beyond) {
      history.violation("deeds", `with payment ${reference} an account paid ${sum} within 24 hours`);
    }
  }
}
